// @ts-check
/**
 * The schedule: requests down, engine steps across, a cell is how many tokens run. It is where schedules are made and how
 * one goes to a step. It draws the draft, which may be ahead of the board while it cannot be computed.
 *
 * What it keeps itself is where the keyboard is: the cell in focus, how far the selection reaches, what is renamed.
 */
import { render } from '../../../vendor/lit-html/lit-html.js';
import { nameFault } from '../../core/scenario/arrange.js';
import { readEntry, readLength } from '../../core/scenario/entry.js';
import { placeOfChange } from '../../core/scenario/history.js';
import * as selecting from '../../core/scenario/selection.js';
import { scrollTo } from '../../core/viewport.js';
import { take } from '../field.js';
import { isHeld, whenReleased } from '../press.js';
import { anchorOf, placeCallout } from './callout.js';
import { connectButtons } from './buttons.js';
import { connectClipboard } from './clipboard.js';
import { COLUMN, rowHeight, windowOf } from './grid.js';
import { schedulePanel } from './panel.js';
import { afterEdit, nextFault } from './places.js';
import { connectPointer } from './pointer.js';
import { connectTyping } from './typing.js';
import { hear, say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../messages.js').Edit} Edit */
/** @typedef {selecting.Place} Place */

/** What else the keyboard can be wanted in. */
const FIELDS = { rename: 'input[data-rename]', details: '.details input', first: '[data-empty-scenario] button' };

/**
 * Which part of the grid is drawn.
 * @param {{rows: import('../../core/viewport.js').Visible, columns: import('../../core/viewport.js').Visible}} part
 */
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
  #frameAsked = 0;
  #isDrawing = false;
  /** Something was said while it was being drawn. */
  #isDrawnAgain = false;
  /** The cell to put the keyboard in once it is there. @type {Place | keyof typeof FIELDS | null} */
  #wanted = null;
  /** What had the keyboard then: whoever has gone elsewhere meanwhile stays there. @type {Element | null} */
  #wantedFrom = null;
  /** The draft that undo or redo leads away from. @type {import('../../core/scenario/edits.js').Scenario | null} */
  #left = null;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#scrolled(), { capture: true, passive: true });
    this.addEventListener('change', (event) => this.commit(/** @type {HTMLInputElement} */ (event.target)));
    this.addEventListener('focusin', (event) => this.#focused(/** @type {HTMLElement} */ (event.target)));
    /** @type {import('../messages.js').Handlers<import('../messages.js').ScheduleMessages>} */
    const handlers = { rename: ({ row }) => this.rename(row), details: (place) => this.openDetails(place) };
    hear(this, handlers);
    hear(this, { edit: (/** @type {Edit} */ what) => this.#edited(what) });
    hear(document, { undo: () => this.#leave(this.#view?.canUndo), redo: () => this.#leave(this.#view?.canRedo) });
    connectButtons(this);
    connectTyping(this);
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
    if (!old) this.selection = selecting.only({ row: 0, column: view.index });
    this.selection = selecting.fitted(this.selection, size) ?? selecting.only({ row: 0, column: 0 });
    if (old && old.draft !== view.draft && this.#left) {
      const place = placeOfChange(this.#left, view.draft);
      this.#left = null;
      // Who pressed the button, or is in the details, stays there.
      if (place && document.activeElement?.closest('.details, [data-undo], [data-redo]'))
        this.selection = selecting.only(place);
      else this.#wanted ??= place;
    }
    if (old && old.draft !== view.draft && this.#renaming >= view.draft.requests.length) this.#renaming = -1;
    this.draw();
    if (this.#shownStep !== view.index) {
      this.#shownStep = view.index;
      const scroller = this.#scroller;
      if (scroller)
        scroller.scrollLeft = scrollTo({
          scroll: scroller.scrollLeft,
          extent: scroller.clientWidth - this.#headWidth,
          size: COLUMN,
          index: view.index,
        });
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

  /** What was said of the last action is over. */
  hush() {
    this.#told = '';
  }

  /** What a field of the grid holds goes into the draft. @param {HTMLInputElement} input */
  commit(input) {
    if (input.dataset.rename !== undefined) this.renamed(input);
    const place = this.placeOfField(input);
    if (!place) return;
    this.editing = null;
    take(input, (text) => {
      const req_id = input.dataset.req ?? '';
      const request = this.#view?.draft.requests.findIndex((one) => one.req_id === req_id) ?? -1;
      if (request < 0) return; // it is gone
      if (place.column < 0) say(this, 'edit', { kind: 'prompt', request, value: readLength(text) });
      else say(this, 'edit', { kind: 'entry', step: place.column, req_id, value: readEntry(text) });
    });
  }

  /** The keyboard goes to a cell, or to the nearest there is. @param {Place} place */
  go(place) {
    const to = selecting.clip(place, this.size);
    this.editing = null;
    this.#bring(to);
    const field = this.field(to);
    if (!field) return;
    if (field === document.activeElement) {
      field.select();
      this.select(selecting.only(to));
    } else {
      this.selection = selecting.only(to);
      field.focus({ preventScroll: true });
    }
    /** @type {HTMLElement | null} */ (this.#scroller)?.style.setProperty('--heads', `${this.#headWidth + 2}px`);
    field.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  /** @param {selecting.Selection} selection */
  select(selection) {
    this.selection = selection;
    this.#told = '';
    this.#bring(selection.head);
    this.#drawSoon();
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
    const top = scrollTo({
      scroll: scroller.scrollTop,
      extent: scroller.clientHeight - head,
      size: rowHeight(),
      index: row,
      margin: 0,
    });
    const left =
      column < 0
        ? scroller.scrollLeft
        : scrollTo({
            scroll: scroller.scrollLeft,
            extent: scroller.clientWidth - this.#headWidth,
            size: COLUMN,
            index: column,
            margin: 0,
          });
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
      this.#drawSoon();
    }
    this.#say();
  }

  /** In the next frame, with what else is drawn then. */
  #drawSoon() {
    this.#frameAsked ||= requestAnimationFrame(() => this.draw());
  }

  #scrolled() {
    if (this.#view && windowKey(windowOf(this.#view, this.#scroller)) !== this.#drawn) this.draw();
  }

  /**
   * Draws, perhaps another part of a large grid. The elements of the cells are used again for other cells then: what is
   * typed goes into the draft first, and the keyboard stays with its cell, or leaves with it.
   */
  draw() {
    if (this.#isDrawing) {
      this.#isDrawnAgain = true;
      return;
    }
    if (isHeld()) return whenReleased(this.#drawLate);
    cancelAnimationFrame(this.#frameAsked);
    this.#frameAsked = 0;
    if (!this.#view) return;
    const field = document.activeElement;
    const place = this.contains(field) ? this.placeOfField(field) : null;
    if (place && windowKey(windowOf(this.#view, this.#scroller)) !== this.#drawn)
      this.commit(/** @type {HTMLInputElement} */ (field)); // which draws
    const view = this.#view;
    const part = windowOf(view, this.#scroller);
    const isOther = windowKey(part) !== this.#drawn;
    this.#drawn = windowKey(part);
    this.#isDrawing = true;
    render(
      schedulePanel(
        view,
        { selection: this.selection, told: this.#told, isDetailed: this.#isDetailed, renaming: this.#renaming },
        part,
      ),
      this,
    );
    this.#isDrawing = false;
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
    if (isOther) say(this, 'drawn');
    if (!this.#isDrawnAgain) return;
    this.#isDrawnAgain = false;
    this.draw();
  }

  #drawLate = () => this.draw();

  /** Puts what is wrong where it belongs. */
  #say() {
    const box = /** @type {HTMLElement | null} */ (this.querySelector('.plan .callout'));
    const panel = /** @type {HTMLElement | null} */ (this.querySelector('.panel'));
    if (!box || !panel || !this.#view?.faults.length) return;
    placeCallout(box, anchorOf(panel, this.#view, this.selection.anchor), panel);
  }

  /** Puts the keyboard somewhere as soon as it is there. @param {Place | keyof typeof FIELDS | null} wanted */
  want(wanted) {
    this.#wanted = wanted;
    this.#wantedFrom = document.activeElement;
  }

  /** By undo or redo. @param {boolean} [can] */
  #leave(can) {
    this.#left = can ? (this.#view?.draft ?? null) : null;
    this.#told = '';
  }

  /** What an edit of this element means for the keyboard, and why it may change nothing. @param {Edit} what */
  #edited(what) {
    const view = this.#view;
    if (!view) return;
    this.#told = '';
    if (what.kind === 'rename') {
      const req_id = what.text.trim();
      const fault = nameFault(view.draft, what.row, req_id);
      if (fault) this.tell(view.t(`request.name.${fault}`, { req_id }));
    }
    this.#wanted = afterEdit(view, what, this.selection.anchor) ?? this.#wanted;
  }

  #focusWanted() {
    const wanted = this.#wanted;
    if (!wanted) return;
    if (typeof wanted !== 'string') {
      this.#wanted = null;
      const { rows, columns } = this.size;
      if (wanted.row < rows && wanted.column < columns) this.go(wanted); // what could not be added has no cell
      return;
    }
    const field = /** @type {HTMLElement | null} */ (this.querySelector(FIELDS[wanted]));
    if (!field) return; // not there yet
    this.#wanted = null;
    if (wanted === 'first' && ![this.#wantedFrom, document.body].includes(document.activeElement)) return;
    field.focus();
    if (field instanceof HTMLInputElement) field.select();
  }

  /** @param {1 | -1} by to the next place that something is wrong at, or the one before */
  goToFault(by) {
    const place = nextFault(
      /** @type {View} */ (this.#view),
      this.selection.anchor,
      this.contains(document.activeElement),
      by,
    );
    if (place) this.go(place);
  }

  /** @param {number} row */
  rename(row) {
    this.#renaming = row;
    this.#wanted = 'rename';
    this.draw();
  }

  /** @param {HTMLInputElement} input */
  renamed(input) {
    const row = Number(input.dataset.rename);
    if (this.#renaming !== row) return;
    this.#renaming = -1;
    take(input, (text) => say(this, 'edit', { kind: 'rename', row, text }));
    this.draw();
  }

  toggleDetails() {
    this.#isDetailed = !this.#isDetailed;
    this.draw();
  }

  /** @param {{row?: number, column?: number}} place */
  openDetails({ row, column }) {
    if (row !== undefined && column !== undefined) this.selection = selecting.only({ row, column });
    this.#isDetailed = true;
    this.#wanted = 'details';
    this.draw();
  }
}

customElements.define('pw-schedule', Schedule);
