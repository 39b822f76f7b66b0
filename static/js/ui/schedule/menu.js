// @ts-check
/** Menus of the schedule: what can be done with a cell, a request or a step. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { isOrderedAsRows } from '../../core/scenario/arrange.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/scenario/selection.js').Place} Place */
/** @typedef {import('../messages.js').Edit} Edit */
/** @typedef {{edit: Edit} | {go: number} | {rename: number} | {details: {row?: number, column?: number}}} Said  one of them */
/**
 * @typedef {{words: string, key?: string, says: Said, isOff?: boolean} | null} Item  null: a line between items
 */

/** @param {View} view @param {Place} place @returns {Item[]} */
export function cellItems({ t, draft, index }, { row, column: step }) {
  const { req_id } = draft.requests[row];
  const entry = (/** @type {string} */ words, /** @type {string} */ key, /** @type {string | null} */ value) => ({
    words,
    key,
    says: { edit: /** @type {Edit} */ ({ kind: 'entry', step, req_id, value }) },
  });
  return [
    entry(t('entry.finish', { req_id }), 'F', 'finish'),
    entry(t('entry.preempt', { req_id }), 'P', 'preempt'),
    entry(t('entry.none', { req_id }), '0', null),
    null,
    { words: t('fill.run', { req_id }), says: { edit: { kind: 'run', req_ids: [req_id], from: step } } },
    { words: t('fill.decode_all'), says: { edit: { kind: 'decode-all', from: step } } },
    null,
    { words: t('details.open'), key: 'Alt Enter', says: { details: {} } },
    ...(step === index ? [] : [{ words: t('step.show', { step }), says: { go: step } }]),
  ];
}

/** @param {View} view @param {number} row @returns {Item[]} */
export function requestItems({ t, draft, index }, row) {
  const { req_id } = draft.requests[row];
  return [
    { words: t('request.rename'), says: { rename: row } },
    { words: t('request.up'), key: 'Alt Shift ↑', says: { edit: { kind: 'move-request', row, by: -1 } }, isOff: row === 0 },
    {
      words: t('request.down'),
      key: 'Alt Shift ↓',
      says: { edit: { kind: 'move-request', row, by: 1 } },
      isOff: row === draft.requests.length - 1,
    },
    { words: t('request.duplicate'), says: { edit: { kind: 'duplicate-request', row } } },
    null,
    {
      words: t('fill.run_from', { step: index }),
      says: { edit: { kind: 'run', req_ids: [req_id], from: index } },
      isOff: draft.steps.length === 0,
    },
    { words: t('details.open'), key: 'Alt Enter', says: { details: { row, column: -1 } } },
    null,
    { words: t('schedule.remove_request', { req_id }), says: { edit: { kind: 'remove-request', req_id } } },
  ];
}

/** @param {View} view @param {number} step @returns {Item[]} */
export function stepItems({ t, draft, index }, step) {
  const last = draft.steps.length - 1;
  return [
    ...(step === index ? [] : [{ words: t('step.show', { step }), says: { go: step } }]),
    { words: t('step.insert_before'), says: { edit: { kind: 'insert-step', step } } },
    { words: t('step.insert_after'), says: { edit: { kind: 'insert-step', step: step + 1 } } },
    { words: t('step.duplicate'), says: { edit: { kind: 'duplicate-step', step } } },
    { words: t('step.earlier'), key: 'Alt Shift ←', says: { edit: { kind: 'move-step', step, by: -1 } }, isOff: step === 0 },
    { words: t('step.later'), key: 'Alt Shift →', says: { edit: { kind: 'move-step', step, by: 1 } }, isOff: step === last },
    { words: t('fill.decode_all'), says: { edit: { kind: 'decode-all', from: step } } },
    {
      words: t('step.order_as_rows'),
      says: { edit: { kind: 'order-as-rows', step } },
      isOff: isOrderedAsRows(draft, step),
    },
    { words: t('step.start'), says: { edit: { kind: 'start-step', step } }, isOff: step === (draft.start_step ?? 0) },
    null,
    { words: t('schedule.remove_step', { step }), says: { edit: { kind: 'remove-step', step } } },
  ];
}

export class ScheduleMenu extends HTMLElement {
  /** @type {HTMLElement | null} */
  #opener = null;
  /** @type {Item[]} */
  #items = [];

  connectedCallback() {
    this.popover = 'auto';
    this.setAttribute('role', 'menu');
    this.addEventListener('click', (event) => this.#choose(/** @type {HTMLElement} */ (event.target).closest('button')));
    this.addEventListener('keydown', (event) => this.#key(event));
  }

  /**
   * @param {string} label
   * @param {Item[]} items
   * @param {HTMLElement} opener what has the focus again afterwards
   * @param {HTMLElement} [beside]
   */
  open(label, items, opener, beside = opener) {
    this.#opener = opener;
    this.#items = items;
    this.setAttribute('aria-label', label);
    render(
      items.map((item, place) =>
        item
          ? html`<button type="button" role="menuitem" data-item=${place} tabindex="-1"
            aria-disabled=${item.isOff ? 'true' : nothing}>${item.words}${item.key ? html`<kbd>${item.key}</kbd>` : nothing}</button>`
          : html`<hr>`,
      ),
      this,
    );
    this.showPopover();
    const box = beside.getBoundingClientRect();
    const isBelow = box.bottom + this.offsetHeight + 8 < innerHeight || box.top - this.offsetHeight - 8 < 0;
    this.style.left = `${Math.max(4, Math.min(box.left, innerWidth - this.offsetWidth - 4))}px`;
    this.style.top = `${isBelow ? Math.max(4, Math.min(box.bottom + 2, innerHeight - this.offsetHeight - 4)) : box.top - this.offsetHeight - 2}px`;
    this.#buttons()[0]?.focus();
  }

  #buttons() {
    return [...this.querySelectorAll('button')];
  }

  /** @param {HTMLButtonElement | null} button */
  #choose(button) {
    const item = this.#items[Number(button?.dataset.item)];
    if (!button || !item || item.isOff || !this.#opener) return;
    const opener = this.#opener;
    this.hidePopover();
    opener.focus();
    const { says } = item;
    if ('edit' in says) say(opener, 'edit', says.edit);
    else if ('go' in says) say(opener, 'go', { step: says.go });
    else if ('rename' in says) say(opener, 'rename', { row: says.rename });
    else say(opener, 'details', says.details);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation(); // the page's own keys mean something else
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      this.hidePopover();
      this.#opener?.focus();
      return;
    }
    const buttons = this.#buttons();
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + buttons.length, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[to % buttons.length]?.focus();
  }
}

customElements.define('pw-schedule-menu', ScheduleMenu);
