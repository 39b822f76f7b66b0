// @ts-check
/**
 * The schedule: requests down, engine steps across, a cell is how many tokens run. It is where counts are typed
 * and how one goes to a step. It draws the draft, which may be ahead of the board while it cannot be computed.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { placeOf, scheduled } from '../core/edits.js';
import { tablesOf } from '../core/layout.js';
import { ownerAlong } from '../core/owner.js';
import { stageSentence } from '../core/summary.js';
import { cellKey, isNull } from '../core/trace.js';
import { scrollTo, visible } from '../core/viewport.js';
import { elementSteps } from './elements.js';
import { faultText, repairs } from './faults.js';
import { requestClass, requestTag } from './tag.js';
import { termButton } from './terms.js';
import { say } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./view.js').Fault} Fault */

const ROW = 32;
const COLUMN = 64;
const MANY_ROWS = 60;
const MANY_COLUMNS = 40;

export class Schedule extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  /** @type {Map<string, Fault[]>} */
  #faults = new Map();
  #shownStep = -1;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#draw(), { capture: true, passive: true });
    this.addEventListener('click', (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
    this.addEventListener('change', (event) => this.#changed(/** @type {HTMLInputElement} */ (event.target)));
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focusin', (event) => {
      if (event.target instanceof HTMLInputElement) event.target.select();
    });
  }

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
    if (goStep !== undefined) say(this, 'go', { step: Number(goStep) });
    else if (edit === 'fix') say(this, 'edit', { kind: 'fix', patch: this.#view?.faults[Number(button.dataset.fault)]?.fix });
    else if (edit !== undefined) say(this, 'edit', { kind: edit, req_id: req, step: Number(step) });
  }

  /** @param {HTMLInputElement} input */
  #changed(input) {
    const { step, req, prompt } = input.dataset;
    const text = input.value.trim();
    // What is no number is sent as it is: the server says in words what is wrong with it.
    const value = text === '' ? null : /^-?\d{1,9}$/.test(text) ? Number(text) : text;
    if (prompt !== undefined) say(this, 'edit', { kind: 'prompt', request: Number(prompt), value });
    else if (step !== undefined) say(this, 'edit', { kind: 'count', step: Number(step), req_id: req, value });
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
          <p class="sentence">${draft.requests.length > 0 && isComputed(view) ? stageSentence(view.step, 'schedule', t) : nothing}</p>
          ${elementSteps(view, 'schedule')}
          <span class="tools">
            ${draft.steps.length > 1 && view.index < draft.steps.length ? html`<button type="button" class="btn" data-edit="remove-step" data-step=${view.index}>${t('schedule.remove_step', { step: view.index })}</button>` : nothing}
            ${view.canUndo || view.canRedo ? html`<button type="button" class="btn" data-undo aria-disabled=${view.canUndo ? nothing : 'true'} @click=${() => view.canUndo && say(this, 'undo')}>${t('edit.undo')}</button><button type="button" class="btn" data-redo aria-disabled=${view.canRedo ? nothing : 'true'} @click=${() => view.canRedo && say(this, 'redo')}>${t('edit.redo')}</button>` : nothing}
          </span>
        </header>
        ${view.stage === 'schedule' ? html`<div class="about"><p>${t('stage.schedule.what')}</p><p class="why">${t('stage.schedule.why')} ${termButton('schedule', t('terms.more'), { kind: 'inline' })}</p></div>` : nothing}
        ${draft.requests.length === 0 ? this.#empty(view) : html`<div class="beside"><div class="plan">${this.#grid(view)}</div>${now && !view.step.empty ? this.#order(view) : nothing}</div>`}
        ${this.#faultList(view, (reqId) => reqId === null || draft.requests.length > MANY_ROWS)}
      </section>`,
      this,
    );
  }

  /** @param {View} view */
  #empty({ t }) {
    return html`<div class="empty" data-empty-scenario><p>${t('schedule.empty')}</p><button type="button" class="btn main" data-edit="add-request">${t('schedule.first_request')}</button></div>`;
  }

  /** @param {View} view */
  #grid(view) {
    const { t, draft } = view;
    const scroller = this.querySelector('.scroll');
    const head = this.querySelector('thead th')?.getBoundingClientRect().width ?? 260;
    const rows = draft.requests.length <= MANY_ROWS ? { first: 0, last: draft.requests.length, before: 0, after: 0 } : visible({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 220, size: ROW, count: draft.requests.length });
    const columns = draft.steps.length <= MANY_COLUMNS ? { first: 0, last: draft.steps.length, before: 0, after: 0 } : visible({ scroll: scroller?.scrollLeft ?? 0, extent: (scroller?.clientWidth || 900) - head, size: COLUMN, count: draft.steps.length });
    const steps = Array.from({ length: columns.last - columns.first }, (_, place) => columns.first + place);
    const gap = (/** @type {number} */ width) => (width > 0 ? html`<td class="gap" aria-hidden="true" .style=${`min-width:${width}px`}></td>` : nothing);
    const spacer = (/** @type {number} */ height) => (height > 0 ? html`<tr aria-hidden="true"><td .style=${`height:${height}px`}></td></tr>` : nothing);
    return html`<div class="scroll" role="presentation"><table aria-label=${t('schedule.label')}>
      <thead><tr><th scope="col" class="r"><span class="vh">${t('table.request')}</span><button type="button" class="btn" data-edit="add-request">${t('schedule.add_request')}</button></th>${gap(columns.before)}
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
    const faults = draft.requests.length > MANY_ROWS ? [] : view.faults.filter((fault) => placeOf(draft, fault).reqId === name);
    const bad = this.#faults.has(`|${name}`);
    return html`<tr class=${requestClass(view, name)} data-req=${name}>
        <th scope="row" class="r"><span class="who">${requestTag(view, name)}${progress(view, name, length)}
          <label class="prompt"><input class="num" inputmode="numeric" autocomplete="off" data-prompt=${row} data-row=${row} data-column="-1" .value=${String(length)} .defaultValue=${String(length)} aria-label=${t('schedule.prompt_of', { req_id: name })} aria-invalid=${bad ? 'true' : nothing} ?readonly=${request.prompt_token_ids !== undefined}>${t('schedule.prompt')}</label>
          <span class="where">${whereabouts(view, name)}</span>
          <button type="button" class="btn remove" data-edit="remove-request" data-req=${name} aria-label=${t('schedule.remove_request', { req_id: name })} title=${t('schedule.remove_request', { req_id: name })}>×</button></span></th>
        ${before}${steps.map((step) => this.#cell(view, name, step, row))}${after}
      </tr>
      ${faults.length > 0 ? html`<tr class="faults"><td colspan=${steps.length + 2}><div class="fault-list">${faults.map((fault) => this.#fault(view, fault))}</div></td></tr>` : nothing}`;
  }

  /** @param {View} view @param {string} name @param {number} step @param {number} row */
  #cell(view, name, step, row) {
    const { t, draft } = view;
    const count = scheduled(draft, step, name);
    const text = count === undefined || count === null ? '' : String(count);
    const bad = this.#faults.has(`${step}|${name}`);
    const key = step === view.index ? this.#key2cell(view, name) : null;
    const said = draft.steps[step];
    const note = said.finished_req_ids?.includes(name) ? t('schedule.finishes') : said.preempted_req_ids?.includes(name) ? t('schedule.preempted') : '';
    return html`<td class="${text ? `run ${requestClass(view, name)}` : ''} ${step === view.index ? 'now' : ''}" data-cell=${key ?? nothing}>
      <input class="num" inputmode="numeric" autocomplete="off" data-step=${step} data-req=${name} data-row=${row} data-column=${step} .value=${text} .defaultValue=${text} placeholder=${note || nothing} aria-label=${t('schedule.cell', { req_id: name, step })} aria-invalid=${bad ? 'true' : nothing}></td>`;
  }

  /** The cell of the trace that a grid cell of the step on screen is. @param {View} view @param {string} name */
  #key2cell(view, name) {
    const names = view.step.space('schedule_req_ids')?.strings;
    const place = names ? names.indexOf(name) : -1;
    return place < 0 ? null : cellKey('schedule_num_tokens', [place]);
  }

  /** @param {number} step */
  #stepFault(step) {
    return [...this.#faults.keys()].some((place) => place.startsWith(`${step}|`));
  }

  /** Faults that have no cell of their own. @param {View} view @param {(reqId: string | null) => boolean} wanted */
  #faultList(view, wanted) {
    const faults = view.faults.filter((fault) => {
      const { reqId } = placeOf(view.draft, fault);
      return wanted(view.draft.requests.some((request) => request.req_id === reqId) ? reqId : null);
    });
    return faults.length > 0 ? html`<div class="fault-list">${faults.map((fault) => this.#fault(view, fault))}</div>` : nothing;
  }

  /** @param {View} view @param {Fault} fault */
  #fault(view, fault) {
    const number = view.faults.indexOf(fault);
    const { step } = placeOf(view.draft, fault);
    return html`<p class="fault" data-code=${fault.code}>${step !== null ? html`<b>${view.t('step.name', { step })}</b> ` : nothing}${faultText(fault)}${repairs(view, fault) ? html` <button type="button" class="btn main" data-edit="fix" data-fault=${number}>${repairs(view, fault)}</button>` : nothing}</p>`;
  }

  /** The schedule in its own order. @param {View} view */
  #order(view) {
    const tables = tablesOf(view.schema, view.step, 'schedule');
    const owner = ownerAlong(view.links, 'schedule_idx');
    return html`<div class="order">${tables.map((table) => html`<pw-rows .data=${{ view, label: view.t('schedule.order'), axis: table.axis, entries: Array.from({ length: table.count }, (_, entry) => entry), lines: table.lines, big: true, owner }}></pw-rows>`)}</div>`;
  }
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
