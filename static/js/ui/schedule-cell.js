// @ts-check
/**
 * One cell of the schedule: a field for what happens to a request in a step, and the menu that offers what can be typed.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { scheduled } from '../core/edits.js';
import { markOf } from '../core/entry.js';
import { cellKey } from '../core/trace.js';
import { requestClass } from './tag.js';
import { say } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('../core/entry.js').Mark} Mark */
/** @typedef {import('../core/entry.js').Residence} Residence */

/** @param {import('../core/i18n.js').Translate} t @param {Mark} mark */
export function markWord(t, mark) {
  return mark === 'finish' ? t('schedule.finishes') : t('schedule.preempted');
}

/**
 * @param {View} view
 * @param {{req_id: string, row: number, step: number, where: Residence, isBad: boolean}} cell
 */
export function scheduleCell(view, { req_id, row, step, where, isBad }) {
  const { t, draft } = view;
  const mark = markOf(draft, step, req_id);
  const count = scheduled(draft, step, req_id) ?? '';
  // A step that both marks and schedules a request is wrong, and shows the count that is too much.
  const text = count !== '' || !mark ? String(count) : markWord(t, mark);
  const kind = count !== '' ? `run ${requestClass(view, req_id)}` : mark ? `mark ${requestClass(view, req_id)}` : where === 'live' ? 'idle' : 'away';
  const key = step === view.index ? traceCell(view, req_id) : null;
  const words = count !== '' || mark ? nothing : t(`entry.where.${where}`);
  return html`<td class="${kind} ${step === view.index ? 'now' : ''}" data-cell=${key ?? nothing} data-where=${where} data-mark=${mark ?? nothing} title=${words}>
    <input class="num" autocomplete="off" autocapitalize="off" spellcheck="false" data-step=${step} data-req=${req_id} data-row=${row} data-column=${step} .value=${text} .defaultValue=${text} placeholder=${kind === 'idle' ? '·' : nothing} aria-label=${t('schedule.cell', { req_id, step })} aria-description=${words} aria-invalid=${isBad ? 'true' : nothing}><button type="button" class="more" tabindex="-1" data-menu aria-haspopup="menu" aria-label=${t('entry.menu', { req_id, step })} title=${t('entry.menu', { req_id, step })}><span aria-hidden="true">▾</span></button></td>`;
}

/** The cell of the trace that a cell of the step on screen is. @param {View} view @param {string} reqId */
function traceCell(view, reqId) {
  const names = view.step.space('schedule_req_ids')?.strings;
  const place = names ? names.indexOf(reqId) : -1;
  return place < 0 ? null : cellKey('schedule_num_tokens', [place]);
}

/** What a cell can be besides a number, as a menu below it. */
export class EntryMenu extends HTMLElement {
  /** @type {HTMLInputElement | null} */
  #field = null;

  connectedCallback() {
    this.popover = 'auto';
    this.setAttribute('role', 'menu');
    this.addEventListener('click', (event) => this.#choose(/** @type {HTMLElement} */ (event.target).closest('button')));
    this.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {View} view @param {HTMLInputElement} field of the cell */
  open({ t }, field) {
    this.#field = field;
    const { req: req_id, step } = field.dataset;
    this.setAttribute('aria-label', t('entry.menu', { req_id, step }));
    const item = (/** @type {string} */ entry, /** @type {string} */ words, /** @type {string} */ key) => html`<button type="button" role="menuitem" data-entry=${entry}>${words}<kbd>${key}</kbd></button>`;
    render(html`${item('finish', t('entry.finish', { req_id }), 'F')}${item('preempt', t('entry.preempt', { req_id }), 'P')}${item('', t('entry.none', { req_id }), '0')}`, this);
    this.showPopover();
    const box = /** @type {HTMLElement} */ (field.parentElement).getBoundingClientRect();
    const below = box.bottom + this.offsetHeight + 8 < innerHeight;
    this.style.left = `${Math.max(4, Math.min(box.left, innerWidth - this.offsetWidth - 4))}px`;
    this.style.top = `${below ? box.bottom + 2 : box.top - this.offsetHeight - 2}px`;
    this.querySelector('button')?.focus();
  }

  /** @param {HTMLButtonElement | null} button */
  #choose(button) {
    const field = this.#field;
    if (!button || !field) return;
    this.hidePopover();
    field.focus();
    say(field, 'edit', { kind: 'entry', step: Number(field.dataset.step), req_id: field.dataset.req, value: button.dataset.entry || null });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation(); // the page's own keys mean something else
    if (event.key === 'Escape') {
      event.preventDefault();
      this.hidePopover();
      this.#field?.focus();
      return;
    }
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const items = [...this.querySelectorAll('button')];
    items[(items.indexOf(/** @type {any} */ (document.activeElement)) + by + items.length) % items.length]?.focus();
  }
}

customElements.define('pw-entry-menu', EntryMenu);
