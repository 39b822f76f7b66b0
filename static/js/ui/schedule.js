// @ts-check
/**
 * The schedule: requests down, engine steps across, a cell is how many tokens run. It is where counts are typed
 * and how one goes to a step. It draws the draft, which may be ahead of the board while it cannot be computed.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { placeOf } from '../core/edits.js';
import { readEntry } from '../core/entry.js';
import { tablesOf } from '../core/layout.js';
import { ownerAlong } from '../core/owner.js';
import { stageSentence } from '../core/summary.js';
import { isNull } from '../core/trace.js';
import { scrollTo, visible } from '../core/viewport.js';
import { walkOf } from '../core/walk.js';
import { anchorOf, callout, placeCallout } from './callout.js';
import { elementSteps } from './elements.js';
import { markWord, scheduleCell } from './schedule-cell.js';
import { requestClass, requestTag } from './tag.js';
import { termButton } from './terms.js';
import { say } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./view.js').Fault} Fault */

/** As in the style sheet: on a phone a request has a second line. */
const rowHeight = () => (innerWidth <= 700 ? 44 : 32);
const COLUMN = 64;
const MANY_ROWS = 60;
const MANY_COLUMNS = 40;

export class Schedule extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  /** @type {Map<string, Fault[]>} */
  #faults = new Map();
  #shownStep = -1;
  /** The cell to put the keyboard in once it is there. @type {{row: number, column: number} | null} */
  #wanted = null;
  #lastRow = 0;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#draw(), { capture: true, passive: true });
    this.addEventListener('click', (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
    this.addEventListener('change', (event) => this.#changed(/** @type {HTMLInputElement} */ (event.target)));
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focusin', (event) => {
      if (event.target instanceof HTMLInputElement) event.target.select();
      const { row } = /** @type {HTMLElement} */ (event.target).dataset;
      if (row !== undefined) this.#lastRow = Number(row);
      this.#say();
    });
    this.#resized.observe(this);
  }

  #resized = new ResizeObserver(() => this.#say());

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    this.#faults = new Map();
    for (const fault of view.faults) {
      const { step, reqId } = placeOf(view.draft, fault);
      const place = `${step ?? ''}|${reqId ?? ''}`;
      this.#faults.set(place, [...(this.#faults.get(place) ?? []), fault]);
    }
    this.#draw();
    if (this.#shownStep !== view.index) {
      this.#shownStep = view.index;
      const scroller = this.querySelector('.scroll');
      const head = this.querySelector('thead th')?.getBoundingClientRect().width ?? 0;
      if (scroller) scroller.scrollLeft = scrollTo({ scroll: scroller.scrollLeft, extent: scroller.clientWidth - head, size: COLUMN, index: view.index });
    }
  }

  /** @param {HTMLElement} target */
  #clicked(target) {
    const button = target.closest('button');
    if (!button) return;
    const { goStep, edit, req, step } = button.dataset;
    if (edit !== undefined || button.dataset.notice !== undefined) this.#wanted = this.#after(button);
    if (button.dataset.menu !== undefined) this.#menu(/** @type {HTMLInputElement} */ (button.previousElementSibling));
    else if (goStep !== undefined) say(this, 'go', { step: Number(goStep) });
    else if (edit === 'fix') say(this, 'edit', { kind: 'fix', patch: this.#view?.faults[Number(button.dataset.fault)]?.fix });
    else if (edit !== undefined) say(this, 'edit', { kind: edit, req_id: req, step: Number(step) });
  }

  /** @param {HTMLInputElement} input */
  #changed(input) {
    const { step, req, prompt } = input.dataset;
    const value = readEntry(input.value);
    const { t } = /** @type {View} */ (this.#view);
    if (prompt !== undefined) say(this, 'edit', { kind: 'prompt', request: Number(prompt), value });
    else if (step !== undefined) {
      input.value = value === 'finish' || value === 'preempt' ? markWord(t, value) : String(value ?? '');
      say(this, 'edit', { kind: 'entry', step: Number(step), req_id: req, value });
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const input = event.target;
    if (!(input instanceof HTMLInputElement)) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      input.dispatchEvent(new Event('change', { bubbles: true }));
      input.select();
      return;
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      input.value = input.defaultValue;
      input.select(); // the keyboard stays where it is
      return;
    }
    if (event.altKey && event.key === 'ArrowDown' && input.dataset.step !== undefined) {
      event.preventDefault();
      this.#menu(input);
      return;
    }
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    const whole = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (step[1] !== 0 && !whole) return;
    const [row, column] = [Number(input.dataset.row) + step[0], Number(input.dataset.column) + step[1]];
    const next = /** @type {HTMLInputElement | null} */ (this.querySelector(`input[data-row="${row}"][data-column="${column}"]`));
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  #draw() {
    const view = this.#view;
    if (!view) return;
    const { t, draft } = view;
    const now = view.stage === 'schedule' || view.stage === 'all';
    render(
      html`<section class="panel schedule ${now ? 'now' : ''}" data-stage="schedule" data-current=${view.stage === 'schedule' ? '' : nothing} aria-labelledby="title-schedule">
        <header>
          <h2 id="title-schedule"><button type="button" data-stage-button aria-current=${view.stage === 'schedule' ? 'step' : nothing} @click=${() => say(this, 'go', { stage: 'schedule' })}>${t('stage.schedule')}</button></h2>
          ${sentence(view)}
          ${view.faults.length > 0 ? nothing : elementSteps(view, 'schedule')}
          <span class="tools">
            ${draft.steps.length > 1 && view.index < draft.steps.length ? html`<button type="button" class="btn" data-edit="remove-step" data-step=${view.index}>${t('schedule.remove_step', { step: view.index })}</button>` : nothing}
            ${view.canUndo || view.canRedo ? html`<button type="button" class="btn" data-undo aria-disabled=${view.canUndo ? nothing : 'true'} @click=${() => view.canUndo && say(this, 'undo')}>${t('edit.undo')}</button><button type="button" class="btn" data-redo aria-disabled=${view.canRedo ? nothing : 'true'} @click=${() => view.canRedo && say(this, 'redo')}>${t('edit.redo')}</button>` : nothing}
          </span>
        </header>
        ${view.stage === 'schedule' ? html`<div class="about"><p>${t('stage.schedule.what')}</p><p class="why">${t('stage.schedule.why')} ${termButton('schedule', t('terms.more'), { kind: 'inline' })}</p></div>` : nothing}
        ${draft.requests.length === 0 ? this.#empty(view) : html`<div class="beside"><div class="plan">${this.#grid(view)}${callout(view)}</div>${now && !view.step.empty ? this.#order(view) : nothing}</div>`}
        ${draft.requests.length === 0 ? callout(view) : nothing}
      </section>
      <pw-entry-menu></pw-entry-menu>`,
      this,
    );
    this.#say();
    this.#focusWanted();
  }

  /** @param {View} view */
  #empty({ t }) {
    return html`<div class="empty" data-empty-scenario><p>${t('schedule.empty')}</p><button type="button" class="btn main" data-edit="add-request" data-step="0">${t('schedule.first_request')}</button></div>`;
  }

  /** @param {View} view */
  #grid(view) {
    const { t, draft } = view;
    const scroller = this.querySelector('.scroll');
    const head = this.querySelector('thead th')?.getBoundingClientRect().width ?? 260;
    const rows = draft.requests.length <= MANY_ROWS ? { first: 0, last: draft.requests.length, before: 0, after: 0 } : visible({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 220, size: rowHeight(), count: draft.requests.length });
    const columns = draft.steps.length <= MANY_COLUMNS ? { first: 0, last: draft.steps.length, before: 0, after: 0 } : visible({ scroll: scroller?.scrollLeft ?? 0, extent: (scroller?.clientWidth || 900) - head, size: COLUMN, count: draft.steps.length });
    const steps = Array.from({ length: columns.last - columns.first }, (_, place) => columns.first + place);
    const gap = (/** @type {number} */ width) => (width > 0 ? html`<td class="gap" aria-hidden="true" .style=${`min-width:${width}px`}></td>` : nothing);
    const spacer = (/** @type {number} */ height) => (height > 0 ? html`<tr aria-hidden="true"><td .style=${`height:${height}px`}></td></tr>` : nothing);
    return html`<div class="scroll" role="presentation"><table aria-label=${t('schedule.label')}>
      <thead><tr><th scope="col" class="r"><span class="vh">${t('table.request')}</span><button type="button" class="btn" data-edit="add-request" data-step=${view.index}>${t('schedule.add_request')}</button></th>${gap(columns.before)}
        ${steps.map((step) => html`<th scope="col" class="${step === view.index ? 'now' : ''} ${view.stopped && step >= view.stopped.step ? 'stopped' : ''}"><button type="button" data-go-step=${step} aria-current=${step === view.index ? 'step' : nothing} ?data-fault=${this.#stepFault(step)}>${t('step.name', { step })}</button></th>`)}
        ${gap(columns.after)}<th class="add"><button type="button" class="btn" data-edit="add-step">${t('schedule.add_step')}</button></th></tr></thead>
      <tbody>${spacer(rows.before)}
        ${draft.requests.slice(rows.first, rows.last).map((request, place) => this.#row(view, request, rows.first + place, steps, gap(columns.before), gap(columns.after)))}
        ${spacer(rows.after)}</tbody>
    </table></div>`;
  }

  /** @param {View} view @param {import('../core/edits.js').ScenarioRequest} request @param {number} row @param {number[]} steps @param {unknown} before @param {unknown} after */
  #row(view, request, row, steps, before, after) {
    const { t, draft } = view;
    const name = request.req_id;
    const length = request.prompt_len ?? request.prompt_token_ids?.length ?? 0;
    const walk = walkOf(draft);
    const [before_field, after_field] = t('schedule.prompt').split('{n}');
    const bad = this.#faults.has(`|${name}`);
    return html`<tr class=${requestClass(view, name)} data-req=${name}>
        <th scope="row" class="r"><span class="who">${requestTag(view, name)}${progress(view, name, length)}
          <label class="prompt">${before_field.trim()}<input class="num" inputmode="numeric" autocomplete="off" data-prompt=${row} data-row=${row} data-column="-1" .value=${String(length)} .defaultValue=${String(length)} aria-label=${t('schedule.prompt_of', { req_id: name })} aria-invalid=${bad ? 'true' : nothing} ?readonly=${request.prompt_token_ids !== undefined}>${after_field.trim()}</label>
          <span class="where">${whereabouts(view, name)}</span>
          <button type="button" class="btn remove" data-edit="remove-request" data-req=${name} aria-label=${t('schedule.remove_request', { req_id: name })} title=${t('schedule.remove_request', { req_id: name })}>×</button></span></th>
        ${before}${steps.map((step) => scheduleCell(view, { req_id: name, row, step, where: walk.where(step, row), isBad: this.#faults.has(`${step}|${name}`) }))}${after}
      </tr>`;
  }

  /** @param {number} step */
  #stepFault(step) {
    return [...this.#faults.keys()].some((place) => place.startsWith(`${step}|`));
  }

  /** Puts what is wrong where it belongs. */
  #say() {
    const box = /** @type {HTMLElement | null} */ (this.querySelector('.plan .callout'));
    const panel = /** @type {HTMLElement | null} */ (this.querySelector('.panel'));
    if (!box || !panel || !this.#view?.faults.length) return;
    placeCallout(box, anchorOf(panel, this.#view), panel);
  }

  /** @param {HTMLInputElement} field */
  #menu(field) {
    if (this.#view) /** @type {import('./schedule-cell.js').EntryMenu} */ (this.querySelector('pw-entry-menu')).open(this.#view, field);
  }

  /** Which cell a button leads to: what it adds, or what takes the place of what it removes. @param {HTMLButtonElement} button */
  #after({ dataset: { edit, req, notice, fault: number } }) {
    const view = /** @type {View} */ (this.#view);
    const { requests, steps } = view.draft;
    if (edit === 'add-request') return { row: requests.length, column: steps.length > 0 ? view.index : 0 };
    if (edit === 'add-step') return { row: this.#lastRow, column: steps.length };
    if (edit === 'remove-request') return { row: Math.min(requests.findIndex(({ req_id }) => req_id === req), requests.length - 2), column: view.index };
    if (edit === 'remove-step') return { row: this.#lastRow, column: Math.min(view.index, steps.length - 2) };
    if (edit === 'fix' || notice) {
      const places = (number === undefined ? view.faults : [view.faults[Number(number)]]).map((fault) => placeOf(view.draft, fault));
      const { step, reqId } = places.find((place) => place.reqId !== null) ?? places[0];
      const row = requests.findIndex(({ req_id }) => req_id === reqId);
      return { row: row < 0 ? this.#lastRow : row, column: step ?? -1 };
    }
    return null;
  }

  #focusWanted() {
    const wanted = this.#wanted;
    if (!wanted) return;
    const field = /** @type {HTMLInputElement | null} */ (this.querySelector(`input[data-row="${wanted.row}"][data-column="${wanted.column}"]`));
    if (!field) {
      // Beyond what is drawn of a large grid: scrolling there draws it.
      const scroller = this.querySelector('.scroll');
      if (scroller) scroller.scrollTop = wanted.row * rowHeight();
      if (scroller) scroller.scrollLeft = wanted.column * COLUMN;
      return;
    }
    this.#wanted = null;
    field.focus();
  }

  /** The schedule in its own order. @param {View} view */
  #order(view) {
    const tables = tablesOf(view.schema, view.step, 'schedule');
    const owner = ownerAlong(view.links, 'schedule_idx');
    return html`<div class="order">${tables.map((table) => html`<pw-rows .data=${{ view, label: view.t('schedule.order'), axis: table.axis, entries: Array.from({ length: table.count }, (_, entry) => entry), lines: table.lines, big: true, owner }}></pw-rows>`)}</div>`;
  }
}

/** What the step runs; in its place, while the draft cannot be run, that the board is not the draft's. @param {View} view */
function sentence(view) {
  const { t, draft, faults, hasBoard } = view;
  if (faults.length > 0) return html`<p class="sentence wrong" data-notice="last-valid"><span class="says">${t(hasBoard ? 'notice.last_valid' : 'notice.not_yet')}</span><span class="short">${t('notice.not_run')}</span> ${hasBoard ? html`<button type="button" class="btn" data-notice="revert" @click=${(/** @type {Event} */ event) => event.currentTarget && say(event.currentTarget, 'revert')}>${t('notice.revert')}</button>` : nothing}</p>`;
  return html`<p class="sentence">${draft.requests.length > 0 && isComputed(view) ? stageSentence(view.step, 'schedule', t) : nothing}</p>`;
}

/** How much of the prompt was computed before the step on screen. @param {View} view @param {string} name @param {number} length */
function progress(view, name, length) {
  const done = computed(view, name);
  const part = done === null ? 0 : Math.min(100, (done / Math.max(1, length)) * 100);
  return html`<span class="bar" aria-hidden="true"><i .style=${`width:${part}%`}></i></span>`;
}

/** @param {View} view @param {string} name */
function computed(view, name) {
  const row = view.step.rows.get(name);
  if (row === undefined) return null;
  const value = view.step.space('num_computed_tokens')?.get([row]) ?? NaN;
  return isNull(value) ? null : /** @type {number} */ (value);
}

/** Whether the step on screen was run. @param {View} view */
function isComputed(view) {
  return view.hasBoard && view.index < (view.stopped?.step ?? view.numSteps);
}

/** @param {View} view @param {string} name */
function whereabouts(view, name) {
  if (!isComputed(view)) return '';
  const done = computed(view, name);
  return done === null ? view.t('schedule.not_in_pool') : view.t('schedule.computed', { n: done });
}

customElements.define('pw-schedule', Schedule);
