// @ts-check
/**
 * The schedule: requests down, engine steps across, a cell is how many tokens run. It is where schedules are made and how
 * one goes to a step. It draws the draft, which may be ahead of the board while it cannot be computed.
 *
 * What it keeps itself is where the keyboard is: the cell in focus, how far the selection reaches, what is renamed.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { nameFault } from '../core/arrange.js';
import { placeOf } from '../core/edits.js';
import { readEntry } from '../core/entry.js';
import { placeOfChange } from '../core/history.js';
import { tablesOf } from '../core/layout.js';
import { ownerAlong } from '../core/owner.js';
import * as selecting from '../core/selection.js';
import { scrollTo } from '../core/viewport.js';
import { anchorOf, callout, placeCallout, placesOf } from './callout.js';
import { markWord } from './schedule-cell.js';
import { connectClipboard } from './schedule-clipboard.js';
import { scheduleDetails } from './schedule-details.js';
import { COLUMN, rowHeight, scheduleGrid, windowOf } from './schedule-grid.js';
import { scheduleHead } from './schedule-head.js';
import { actionOf } from './schedule-keys.js';
import { cellItems, requestItems, stepItems } from './schedule-menu.js';
import { connectPointer } from './schedule-pointer.js';
import { termButton } from './terms.js';
import { say } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./view.js').Fault} Fault */
/** @typedef {selecting.Place} Place */

/** What else the keyboard can be wanted in. */
const FIELDS = { rename: 'input[data-rename]', details: '.details input', first: '[data-empty-scenario] button' };

/** Which part of the grid is drawn. @param {{rows: import('../core/viewport.js').Visible, columns: import('../core/viewport.js').Visible}} part */
const windowKey = ({ rows, columns }) => `${rows.first}|${rows.last}|${columns.first}|${columns.last}`;

export class Schedule extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  selection = selecting.only({ row: 0, column: 0 });
  /** What was done last, where the grid itself does not show it. */
  #told = '';
  #isDetailed = false;
  #renaming = -1;
  /** The field in which the caret moves inside the text. @type {EventTarget | null} */
  editing = null;
  #shownStep = -1;
  #drawn = '';
  /** The keyboard goes back to the cell that it was in, whose element is another now. */
  #isRefocusing = false;
  /** The cell to put the keyboard in once it is there. @type {Place | keyof typeof FIELDS | null} */
  #wanted = null;
  /** The draft that undo or redo leads away from. @type {import('../core/edits.js').Scenario | null} */
  #left = null;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#scrolled(), { capture: true, passive: true });
    this.addEventListener('click', (event) => this.#clicked(/** @type {HTMLElement} */ (event.target)));
    this.addEventListener('change', (event) => this.commit(/** @type {HTMLInputElement} */ (event.target)));
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focusin', (event) => this.#focused(/** @type {HTMLElement} */ (event.target)));
    this.addEventListener('pw-edit', (event) => this.#edited(/** @type {CustomEvent} */ (event).detail));
    this.addEventListener('pw-rename', (event) => this.#rename(/** @type {CustomEvent} */ (event).detail.row));
    this.addEventListener('pw-details', (event) => this.#openDetails(/** @type {CustomEvent} */ (event).detail));
    document.addEventListener('pw-undo', () => (this.#left = this.#view?.canUndo ? this.#view.draft : null));
    document.addEventListener('pw-redo', () => (this.#left = this.#view?.canRedo ? this.#view.draft : null));
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'F8' || !this.#view?.faults.length || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      this.#nextFault(event.shiftKey ? -1 : 1);
    });
    connectPointer(this);
    connectClipboard(this);
    this.#resized.observe(this);
  }

  #resized = new ResizeObserver(() => this.#say());

  /** @param {View | null} view */
  set view(view) {
    if (!view) return;
    const old = this.#view;
    this.#view = view;
    const size = this.size;
    this.selection = selecting.fitted(this.selection, size) ?? selecting.only({ row: 0, column: 0 });
    if (old && old.draft !== view.draft && this.#left) {
      const place = placeOfChange(this.#left, view.draft);
      this.#left = null;
      if (place && document.activeElement?.closest('.details')) this.selection = selecting.only(place);
      else this.#wanted ??= place;
    }
    if (old && old.draft !== view.draft && this.#renaming >= view.draft.requests.length) this.#renaming = -1;
    this.draw();
    if (this.#shownStep !== view.index) {
      this.#shownStep = view.index;
      const scroller = this.#scroller;
      if (scroller) scroller.scrollLeft = scrollTo({ scroll: scroller.scrollLeft, extent: scroller.clientWidth - this.#headWidth, size: COLUMN, index: view.index });
    }
  }

  get view() {
    return this.#view;
  }

  get #scroller() {
    return this.querySelector('.plan .scroll');
  }

  get #headWidth() {
    return this.querySelector('.plan thead th')?.getBoundingClientRect().width ?? 0;
  }

  /** @returns {selecting.Size} */
  get size() {
    return { rows: this.#view?.draft.requests.length ?? 0, columns: this.#view?.draft.steps.length ?? 0 };
  }

  /** @param {Place} place @returns {HTMLInputElement | null} */
  field({ row, column }) {
    return this.querySelector(`.plan input[data-row="${row}"][data-column="${column}"]`);
  }

  /** @param {EventTarget | null} target @returns {Place | null} the cell of a field */
  placeOfField(target) {
    const { row, column } = target instanceof HTMLInputElement ? target.dataset : {};
    return row === undefined || column === undefined ? null : { row: Number(row), column: Number(column) };
  }

  /** Whether a field holds something that is not in the draft yet. @param {HTMLInputElement} input */
  isTyped(input) {
    return input.value !== input.defaultValue;
  }

  /** @param {HTMLElement} target */
  #clicked(target) {
    const button = target.closest('button');
    const view = this.#view;
    if (!button || !view) return;
    const { goStep, edit, req, step, requestMenu, stepMenu, stay } = button.dataset;
    if ((edit !== undefined && stay === undefined) || button.dataset.notice !== undefined) this.#wanted = this.#after(button);
    if (button.dataset.menu !== undefined) this.#menu(/** @type {HTMLInputElement} */ (button.previousElementSibling));
    else if (requestMenu !== undefined) this.#openMenu(button.getAttribute('aria-label') ?? '', requestItems(view, Number(requestMenu)), button);
    else if (stepMenu !== undefined) this.#openMenu(button.getAttribute('aria-label') ?? '', stepItems(view, Number(stepMenu)), button, button.parentElement);
    else if (button.dataset.nextFault !== undefined) this.#nextFault(1);
    else if (button.dataset.new !== undefined) this.#wanted = 'first';
    else if (button.dataset.detailsToggle !== undefined) this.#toggleDetails();
    else if (goStep !== undefined) say(this, 'go', { step: Number(goStep) });
    else if (edit === 'fix') say(this, 'edit', { kind: 'fix', patch: view.faults[Number(button.dataset.fault)]?.fix });
    else if (edit !== undefined) say(this, 'edit', { kind: edit, req_id: req, step: Number(step) });
  }

  /** What a field of the grid holds goes into the draft. @param {HTMLInputElement} input */
  commit(input) {
    const place = this.placeOfField(input);
    const view = this.#view;
    if (input.dataset?.rename !== undefined) this.#renamed(input);
    if (!place || !view || !this.isTyped(input)) return;
    const value = readEntry(input.value);
    this.editing = null;
    if (place.column >= 0) input.value = value === 'finish' || value === 'preempt' ? markWord(view.t, value) : String(value ?? '');
    input.defaultValue = input.value;
    if (place.column < 0) say(this, 'edit', { kind: 'prompt', request: place.row, value });
    else say(this, 'edit', { kind: 'entry', step: place.column, req_id: input.dataset.req, value });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const input = event.target;
    const view = this.#view;
    if (!view || !(input instanceof HTMLElement)) return;
    if (input.dataset.rename !== undefined) return this.#renameKey(event, /** @type {HTMLInputElement} */ (input));
    if (input.closest('.details')) return this.#detailsKey(event, input);
    const place = this.placeOfField(input);
    if (input.dataset.edit === 'add-step' || input.dataset.edit === 'add-request') return this.#edgeKey(event, input);
    if (!place || !(input instanceof HTMLInputElement)) return;
    const action = actionOf(event, { isEditing: this.editing === input, isTyped: this.isTyped(input) });
    if (action.do === 'native') return;
    if (action.do === 'move' && event.key === 'Tab' && place.column + action.right < -1) return this.commit(input);
    event.preventDefault();
    if (action.do === 'restore') event.stopPropagation();
    this.#told = '';
    const rectangle = selecting.rectangle(this.selection);
    switch (action.do) {
      case 'move':
        this.commit(input);
        if (place.column + action.right >= this.size.columns) return this.#button('add-step')?.focus();
        if (place.row + action.down >= this.size.rows && !action.commit) return this.#button('add-request')?.focus();
        return this.go({ row: place.row + action.down, column: place.column + action.right });
      case 'extend':
        return this.select(selecting.extend(this.selection, action.down, action.right, this.size));
      case 'all':
        return this.select(selecting.everything(this.size));
      case 'edge':
        return this.go({ row: action.to === 'first' ? 0 : action.to === 'last' ? this.size.rows - 1 : place.row, column: action.to === 'start' || action.to === 'first' ? 0 : this.size.columns - 1 });
      case 'clear':
        return say(this, 'edit', { kind: 'clear', at: rectangle });
      case 'fill':
        input.defaultValue = input.value;
        return say(this, 'edit', { kind: 'paste', at: rectangle, block: [[input.value]] });
      case 'restore':
        input.value = input.defaultValue;
        this.editing = null;
        input.select(); // the keyboard stays where it is
        return this.select(selecting.only(place));
      case 'edit':
        this.editing = input;
        return input.setSelectionRange(input.value.length, input.value.length);
      case 'menu':
        this.commit(input);
        return this.#menu(input);
      case 'details':
        this.commit(input);
        return this.#openDetails({});
      case 'arrange':
        this.commit(input);
        return this.#arrange(place, action);
    }
  }

  /** @param {'add-step' | 'add-request'} edit @returns {HTMLElement | null} */
  #button(edit) {
    return this.querySelector(`.plan [data-edit="${edit}"]`);
  }

  /** From the buttons at the edges of the grid the arrows lead back into it. @param {KeyboardEvent} event @param {HTMLElement} button */
  #edgeKey(event, button) {
    const back = button.dataset.edit === 'add-step' ? ['ArrowLeft', 'ArrowDown'] : ['ArrowUp', 'ArrowRight'];
    if (!back.includes(event.key) || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.selection.anchor);
  }

  /** @param {Place} place @param {{down: number, right: number}} by */
  #isInside({ row, column }, { down, right }) {
    return row + down >= 0 && row + down < this.size.rows && column + right >= -1 && column + right < this.size.columns;
  }

  /** The request, or the step, of a cell one place further. @param {Place} place @param {{down: number, right: number}} by */
  #arrange(place, { down, right }) {
    const to = { row: place.row + down, column: place.column + right };
    if (!this.#isInside(place, { down, right }) || (right !== 0 && (place.column < 0 || to.column < 0))) return;
    this.#wanted = to;
    say(this, 'edit', down !== 0 ? { kind: 'move-request', row: place.row, by: down } : { kind: 'move-step', step: place.column, by: right });
  }

  /** The keyboard goes to a cell, or to the nearest there is. @param {Place} place */
  go(place) {
    const to = selecting.clip(place, this.size);
    this.#bring(to);
    const field = this.field(to);
    if (!field) return;
    if (field === document.activeElement) {
      field.select();
      this.select(selecting.only(to));
    } else field.focus({ preventScroll: true });
    /** @type {HTMLElement | null} */ (this.#scroller)?.style.setProperty('--heads', `${this.#headWidth + 2}px`);
    field.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  /** @param {selecting.Selection} selection */
  select(selection) {
    this.selection = selection;
    this.#bring(selection.head);
    this.draw();
  }

  /** Another thing to say of what was done. @param {string} words */
  tell(words) {
    this.#told = words;
    this.draw();
  }

  /** Scrolls a cell of a large grid into what is drawn. @param {Place} place */
  #bring({ row, column }) {
    const scroller = this.#scroller;
    if (!scroller) return;
    const head = this.querySelector('.plan thead')?.getBoundingClientRect().height ?? 28;
    const top = scrollTo({ scroll: scroller.scrollTop, extent: scroller.clientHeight - head, size: rowHeight(), index: row, margin: 0 });
    const left = column < 0 ? scroller.scrollLeft : scrollTo({ scroll: scroller.scrollLeft, extent: scroller.clientWidth - this.#headWidth, size: COLUMN, index: column, margin: 0 });
    if (top === scroller.scrollTop && left === scroller.scrollLeft) return;
    scroller.scrollTop = top;
    scroller.scrollLeft = left;
    this.#scrolled();
  }

  /** @param {HTMLElement} target */
  #focused(target) {
    const place = this.placeOfField(target);
    if (place && this.#isRefocusing) /** @type {HTMLInputElement} */ (target).select();
    else if (place) {
      if (this.editing !== target) this.editing = null;
      /** @type {HTMLInputElement} */ (target).select();
      const { anchor } = this.selection;
      if (anchor.row !== place.row || anchor.column !== place.column) {
        this.selection = selecting.only(place);
        this.#told = '';
      }
      this.draw();
    }
    this.#say();
  }

  #scrolled() {
    if (this.#view && windowKey(windowOf(this.#view, this.#scroller)) !== this.#drawn) this.draw();
  }

  /**
   * Draws, perhaps another part of a large grid. The elements of the cells are used again for other cells then: what is
   * typed goes into the draft first, and the keyboard stays with its cell, or leaves with it.
   */
  draw() {
    const view = this.#view;
    if (!view) return;
    const frame = this.#frame(view);
    const field = document.activeElement;
    const place = this.contains(field) ? this.placeOfField(field) : null;
    if (place && field instanceof HTMLInputElement && windowKey(frame) !== this.#drawn) this.commit(field);
    this.#drawn = windowKey(frame);
    this.#render(view, frame);
    const now = document.activeElement === field ? this.placeOfField(field) : null;
    if (place && (now?.row !== place.row || now.column !== place.column)) {
      const again = this.field(place);
      this.#isRefocusing = true;
      if (again) again.focus({ preventScroll: true });
      else if (field instanceof HTMLElement) field.blur();
      this.#isRefocusing = false;
    }
    this.#say();
    this.#focusWanted();
  }

  /** @param {View} view @param {import('./schedule-grid.js').Frame} frame */
  #render(view, frame) {
    const { t, draft } = view;
    const now = view.stage === 'schedule' || view.stage === 'all';
    render(
      html`<section class="panel schedule ${now ? 'now' : ''}" data-stage="schedule" data-current=${view.stage === 'schedule' ? '' : nothing} aria-labelledby="title-schedule">
        ${scheduleHead(view, { told: this.#said(view), isDetailed: this.#isDetailed })}
        ${view.stage === 'schedule' ? html`<div class="about"><p>${t('stage.schedule.what')}</p><p class="why">${t('stage.schedule.why')} ${termButton('schedule', t('terms.more'), { kind: 'inline' })}</p></div>` : nothing}
        ${draft.requests.length === 0 ? this.#empty(view) : html`<div class="beside"><div class="plan">${scheduleGrid(view, frame)}${callout(view, this.selection.anchor)}</div>${now && !view.step.empty ? this.#order(view) : nothing}</div>`}
        ${draft.requests.length === 0 ? callout(view, null) : nothing}
        ${this.#isDetailed && draft.requests.length > 0 ? scheduleDetails(view, this.selection.anchor) : nothing}
      </section>
      <pw-schedule-menu></pw-schedule-menu>`,
      this,
    );
  }

  /** @param {View} view @returns {import('./schedule-grid.js').Frame} */
  #frame(view) {
    const places = view.faults.map((fault) => placeOf(view.draft, fault));
    return {
      ...windowOf(view, this.#scroller),
      active: this.selection.anchor,
      selected: selecting.isMany(this.selection) ? selecting.rectangle(this.selection) : null,
      faults: new Set(places.map(({ step, reqId }) => `${step ?? ''}|${reqId ?? ''}`)),
      faultySteps: new Set(places.flatMap(({ step }) => (step === null ? [] : [step]))),
      renaming: this.#renaming,
    };
  }

  /** How much is selected, or what was done last. @param {View} view */
  #said({ t, draft }) {
    if (this.#told || !selecting.isMany(this.selection)) return this.#told;
    const { top, left, bottom, right } = selecting.rectangle(this.selection);
    const names = new Set(draft.requests.slice(top, bottom + 1).map(({ req_id }) => req_id));
    const tokens = draft.steps.slice(Math.max(0, left), right + 1).reduce((sum, step) => sum + (step.num_scheduled_tokens ?? []).reduce((all, [name, count]) => all + (names.has(name) ? Number(count) || 0 : 0), 0), 0);
    return t('selection.size', { requests: t('count.requests', { n: bottom - top + 1 }), steps: t('count.steps', { n: right - left + 1 }), tokens: t('count.tokens', { n: tokens }) });
  }

  /** @param {View} view */
  #empty({ t }) {
    return html`<div class="empty" data-empty-scenario><p>${t('schedule.empty')}</p><button type="button" class="btn main" data-edit="add-request" data-step="0">${t('schedule.first_request')}</button></div>`;
  }

  /** Puts what is wrong where it belongs. */
  #say() {
    const box = /** @type {HTMLElement | null} */ (this.querySelector('.plan .callout'));
    const panel = /** @type {HTMLElement | null} */ (this.querySelector('.panel'));
    if (!box || !panel || !this.#view?.faults.length) return;
    placeCallout(box, anchorOf(panel, this.#view, this.selection.anchor), panel);
  }

  /** The menu of a field's cell, or of its request. @param {HTMLInputElement} field */
  #menu(field) {
    const place = this.placeOfField(field);
    const view = this.#view;
    if (!place || !view) return;
    const { req_id } = view.draft.requests[place.row];
    if (place.column < 0) this.#openMenu(view.t('request.menu', { req_id }), requestItems(view, place.row), field);
    else this.#openMenu(view.t('entry.menu', { req_id, step: place.column }), cellItems(view, place), field, field.parentElement);
  }

  /** @param {string} label @param {import('./schedule-menu.js').Item[]} items @param {HTMLElement} opener @param {HTMLElement | null} [beside] */
  #openMenu(label, items, opener, beside) {
    /** @type {import('./schedule-menu.js').ScheduleMenu} */ (this.querySelector('pw-schedule-menu')).open(label, items, opener, beside ?? opener);
  }

  /** What an edit of this element means for the keyboard. @param {any} what */
  #edited(what) {
    const view = this.#view;
    if (!view) return;
    const { row } = what;
    if (what.kind === 'rename') {
      const fault = nameFault(view.draft, row, what.text.trim());
      if (fault) this.tell(view.t(`request.name.${fault}`, { req_id: what.text.trim() }));
    }
    if (what.kind === 'duplicate-request') this.#wanted = { row: row + 1, column: this.selection.anchor.column };
    if (what.kind === 'remove-request') this.#wanted = { row: Math.max(0, Math.min(view.draft.requests.findIndex(({ req_id }) => req_id === what.req_id), this.size.rows - 2)), column: Math.min(view.index, this.size.columns - 1) };
    if (what.kind === 'insert-step') this.#wanted = { row: this.selection.anchor.row, column: what.step };
    if (what.kind === 'duplicate-step') this.#wanted = { row: this.selection.anchor.row, column: what.step + 1 };
    if (what.kind === 'remove-step') this.#wanted = { row: this.selection.anchor.row, column: Math.min(what.step, this.size.columns - 2) };
  }

  /** Which cell a button leads to: what it adds, or what it repairs. @param {HTMLButtonElement} button @returns {Place | null} */
  #after({ dataset: { edit, notice, fault: number } }) {
    const view = /** @type {View} */ (this.#view);
    const { requests, steps } = view.draft;
    const { row } = this.selection.anchor;
    if (edit === 'add-request') return { row: requests.length, column: steps.length > 0 ? view.index : 0 };
    if (edit === 'add-step') return { row, column: steps.length };
    if (edit === 'fix' || notice) {
      const places = placesOf(view, number === undefined ? view.faults : [view.faults[Number(number)]]);
      return (places.find((place) => place.row >= 0) ?? places[0])?.row >= 0 ? (places.find((place) => place.row >= 0) ?? null) : { row, column: places[0]?.column ?? -1 };
    }
    return null;
  }

  #focusWanted() {
    const wanted = this.#wanted;
    if (!wanted) return;
    if (typeof wanted === 'string') {
      const field = /** @type {HTMLElement | null} */ (this.querySelector(FIELDS[wanted]));
      if (!field) return; // not there yet
      this.#wanted = null;
      field.focus();
      if (field instanceof HTMLInputElement) field.select();
      return;
    }
    const { rows, columns } = this.size;
    if (wanted.row >= rows || wanted.column >= columns) return; // not there yet
    this.#wanted = null;
    this.go(wanted);
  }

  /** From one place that something is wrong at to the next. @param {1 | -1} by */
  #nextFault(by) {
    const view = /** @type {View} */ (this.#view);
    const { anchor } = this.selection;
    const places = placesOf(view, view.faults).map(({ row, column }) => ({ row: row < 0 ? anchor.row : row, column: Math.min(column, this.size.columns - 1) }));
    const at = places.findIndex(({ row, column }) => row === anchor.row && column === anchor.column);
    const isHere = at >= 0 && this.contains(document.activeElement);
    if (places.length > 0) this.go(places[(isHere ? at + by + places.length : 0) % places.length]);
  }

  /** @param {number} row */
  #rename(row) {
    this.#renaming = row;
    this.#wanted = 'rename';
    this.draw();
  }

  /** @param {HTMLInputElement} input */
  #renamed(input) {
    const row = Number(input.dataset.rename);
    if (this.#renaming !== row) return;
    this.#renaming = -1;
    if (this.isTyped(input)) say(this, 'edit', { kind: 'rename', row, text: input.value });
    this.draw();
  }

  /** @param {KeyboardEvent} event @param {HTMLInputElement} input */
  #renameKey(event, input) {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') input.value = input.defaultValue;
    this.#wanted = { row: Number(input.dataset.rename), column: this.selection.anchor.column };
    this.#renamed(input);
  }

  #toggleDetails() {
    this.#isDetailed = !this.#isDetailed;
    this.draw();
  }

  /** @param {{row?: number, column?: number}} place */
  #openDetails({ row, column }) {
    if (row !== undefined && column !== undefined) this.selection = selecting.only({ row, column });
    this.#isDetailed = true;
    this.#wanted = 'details';
    this.draw();
  }

  /** Escape gives a field its value back, then the keyboard to the cell. @param {KeyboardEvent} event @param {HTMLElement} target */
  #detailsKey(event, target) {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (target instanceof HTMLInputElement && this.isTyped(target) && target.type !== 'checkbox') target.value = target.defaultValue;
    else this.go(this.selection.anchor);
  }

  /** The schedule in its own order. @param {View} view */
  #order(view) {
    const tables = tablesOf(view.schema, view.step, 'schedule');
    const owner = ownerAlong(view.links, 'schedule_idx');
    return html`<div class="order">${tables.map((table) => html`<pw-rows .data=${{ view, label: view.t('schedule.order'), axis: table.axis, entries: Array.from({ length: table.count }, (_, entry) => entry), lines: table.lines, big: true, owner }}></pw-rows>`)}</div>`;
  }
}

customElements.define('pw-schedule', Schedule);
