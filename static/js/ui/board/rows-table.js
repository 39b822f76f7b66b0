// @ts-check
/**
 * A table with one row per request, pool row or block: index, the request's tag, then one column per space.
 *
 * Only the rows in sight are in the document. Rows are as high as the stylesheet's `--row` and `--row-big` say.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { lookUp, symbolic } from '../../core/trace/formula.js';
import { cellKey } from '../../core/trace/trace.js';
import { inSight, scrollTo, visible } from '../../core/viewport.js';
import { listCell, valueCell } from './cell.js';
import { rowHeight } from './columns.js';
import { find, moveFocus, setEntry } from './grid-keys.js';
import { accentOf } from '../names.js';
import { requestClass, requestTag } from '../tag.js';
import { termName } from '../glossary/terms.js';
import { zoomOf } from '../zoom.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/layout.js').Line} Line */
/**
 * @typedef {object} RowsData
 * @property {View} view
 * @property {string} label  name of the table for a screen reader
 * @property {string} axis
 * @property {ArrayLike<number>} entries  which rows, in the order shown
 * @property {Line[]} lines
 * @property {boolean} big  the stage at hand
 * @property {(entry: number) => string | null} owner
 * @property {(entry: number) => string} [mark]  words shown where there is no request: free, freed
 * @property {number} [chips]  entries of a list before it is elided
 * @property {{entries: number[], words: string} | null} [tail]  rows left out until asked for
 * @property {{head: string, cell: (entry: number) => unknown}[]} [extra]  further columns
 */

/** Below this many rows all of them are drawn. */
const WINDOWED = 60;

export class RowsTable extends HTMLElement {
  /** @type {RowsData | null} */
  #data = null;
  #rowHeight = 26;
  /** @type {Set<string>} lists that the reader opened */
  #open = new Set();
  #sizes = new ResizeObserver(() => this.#measure());

  disconnectedCallback() {
    this.#sizes.disconnect();
  }

  connectedCallback() {
    this.addEventListener('scroll', () => this.#scrolled(), { capture: true, passive: true });
    this.addEventListener('keydown', (event) => {
      if (moveFocus(this, event, { bring: (direction) => this.#bring(direction) })) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    this.addEventListener('click', (event) => {
      const gap = /** @type {HTMLElement} */ (event.target).closest('[data-open]');
      if (!(gap instanceof HTMLElement)) return;
      this.#open.add(String(gap.dataset.open));
      this.#draw();
      setEntry(this);
    });
  }

  /** @param {RowsData} data */
  set data(data) {
    const old = this.#data;
    this.#data = data;
    this.#rowHeight = rowHeight(data.view, data.big);
    // The rows of the pool stay the same from step to step, a batch is another one.
    const isOther =
      old !== null &&
      (old.axis !== data.axis ||
        old.view.constants !== data.view.constants ||
        (data.axis !== 'req_state_idx' && old.view.index !== data.view.index));
    const scroller = this.querySelector('.scroll');
    if (isOther && scroller) scroller.scrollTop = 0;
    this.#draw();
    this.#observe();
    setEntry(this);
  }

  /**
   * Scrolls a row into sight inside this table.
   * @param {number} entry
   */
  reveal(entry) {
    const scroller = this.querySelector('.scroll');
    const place = this.#data ? Array.prototype.indexOf.call(this.#data.entries, entry) : -1;
    if (!scroller || place < 0) return;
    const extent =
      Math.max(1, Math.floor((scroller.clientHeight - this.#headHeight() + 1) / this.#rowHeight)) * this.#rowHeight;
    scroller.scrollTop = scrollTo({ scroll: scroller.scrollTop, extent, size: this.#rowHeight, index: place });
    this.#draw();
  }

  get axis() {
    return this.#data?.axis ?? '';
  }

  get lines() {
    return this.#data?.lines ?? [];
  }

  /** Sizes are read when they change, not at every drawing. */
  #observe() {
    const parts = /** @type {Element[]} */ ([
      this.querySelector('.scroll'),
      this.querySelector('thead'),
      this.querySelector('table'),
    ]);
    for (const part of parts) this.#sizes.observe(part);
  }

  #measure() {
    const scroller = /** @type {HTMLElement | null} */ (this.querySelector('.scroll'));
    if (!scroller) return;
    this.style.setProperty('--head', `${this.#headHeight()}px`);
    this.style.setProperty('--bar', `${scroller.offsetHeight - scroller.clientHeight}px`);
    sayMore(this, scroller);
    this.#draw();
  }

  #scrolled() {
    const scroller = this.querySelector('.scroll');
    if (scroller) sayMore(this, scroller);
    this.#draw();
  }

  #headHeight() {
    const head = this.querySelector('thead');
    return head ? head.getBoundingClientRect().height / zoomOf(head) : 0;
  }

  /** @param {'left' | 'right' | 'up' | 'down' | 'home' | 'end'} direction */
  #bring(direction) {
    const scroller = this.querySelector('.scroll');
    if (!scroller || direction === 'left' || direction === 'right') return false;
    const before = scroller.scrollTop;
    if (direction === 'up') scroller.scrollTop -= this.#rowHeight * 4;
    if (direction === 'down') scroller.scrollTop += this.#rowHeight * 4;
    this.#draw();
    return scroller.scrollTop !== before;
  }

  #draw() {
    const data = this.#data;
    if (!data) return;
    const tail = data.tail && !this.#open.has('tail') ? data.tail : null;
    const all = data.tail && !tail ? [...Array.from(data.entries), ...data.tail.entries] : data.entries;
    const count = all.length;
    const scroller = this.querySelector('.scroll');
    const window =
      count <= WINDOWED
        ? { first: 0, last: count, before: 0, after: 0 }
        : visible({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 400, size: this.#rowHeight, count });
    const shown = scroller
      ? inSight({
          scroll: scroller.scrollTop,
          extent: scroller.clientHeight - this.#headHeight(),
          size: this.#rowHeight,
          count,
        })
      : null;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const key = focused && this.contains(focused) ? focused.dataset.cell : undefined;
    const rows = [];
    for (let place = window.first; place < window.last; place += 1) rows.push(this.#row(data, all[place], place));
    const columns = data.lines.length + 2 + (data.extra?.length ?? 0);
    const sight = (/** @type {{first: number, last: number}} */ { first, last }) =>
      data.view.t('rows.window', { first: String(all[first]), last: String(all[last]), n: count });
    const spacer = (/** @type {number} */ height) =>
      height > 0
        ? html`<tr class="spacer" aria-hidden="true"><td colspan=${columns} .style=${`height:${height}px`}></td></tr>`
        : nothing;
    render(
      html`<div class="scroll" role="presentation">
        <table role="grid" aria-label=${data.label} aria-rowcount=${count + 1}>
          <thead><tr>${this.#head(data)}</tr></thead>
          <tbody>${spacer(window.before)}${rows}${spacer(window.after)}${
            tail
              ? html`<tr class="tail"><td
            colspan=${columns}><button type="button" class="via"
            data-open="tail">${tail.words}</button></td></tr>`
              : nothing
          }</tbody>
        </table>
      </div>
      ${
        shown
          ? html`<p class="window" data-window
        ?data-whole=${window.before + window.after === 0}>${sight(shown)}</p>`
          : nothing
      }`,
      this,
    );
    if (key && focused?.dataset.cell !== key) find(this, key)?.focus({ preventScroll: true });
    say(this, 'drawn');
  }

  /** @param {RowsData} data */
  #head(data) {
    const { view } = data;
    return html`<th scope="col" class="index ${accentOf(data.axis)}"><span class="name">${termName(data.axis)}</span></th>
      <th scope="col" class="req"><span class="vh">${view.t('table.request')}</span></th>
      ${data.lines.map(
        (line) => html`<th scope="col"
        class="${line.list ? 'list' : ''} ${accentOf(line.holds)}">${lineName(view, line)}</th>`,
      )}
      ${(data.extra ?? []).map(({ head }) => html`<th scope="col" class="list">${head}</th>`)}`;
  }

  /** @param {RowsData} data @param {number} entry @param {number} place */
  #row(data, entry, place) {
    const { view } = data;
    const owner = data.owner(entry);
    const mark = data.mark?.(entry) ?? '';
    const space = view.schema.tagOf(data.axis);
    const tag = space && owner !== null ? cellKey(space, [entry]) : null;
    const must = view.look ? [view.look.at[view.look.at.length - 1]] : [];
    return html`<tr data-axis=${data.axis} data-index=${entry} aria-rowindex=${place + 2}
      class="${requestClass(view, owner)} ${mark ? 'idle' : ''}">
      <th scope="row" class="index ${accentOf(data.axis)}">${entry}</th>
      <td class="req ${tag ? 'c' : ''}" tabindex=${tag ? '-1' : nothing}
        data-cell=${tag ?? nothing}>${requestTag(view, owner)}${
          mark
            ? html`<span
        class="mark">${mark}</span>`
            : nothing
        }</td>
      ${data.lines.map((line) =>
        line.list
          ? listCell(view, line, entry, { most: data.chips ?? 8, open: this.#open.has(`${line.space}.${entry}`), must })
          : valueCell(view, line, entry),
      )}
      ${(data.extra ?? []).map(({ cell }) => html`<td class="list">${cell(entry)}</td>`)}
    </tr>`;
  }
}

/**
 * Marks the sides behind which a table goes on.
 * @param {HTMLElement} table
 * @param {Element} scroller
 */
export function sayMore(table, scroller) {
  const left = scroller.scrollLeft > 1;
  const right = scroller.scrollLeft + scroller.clientWidth < scroller.scrollWidth - 1;
  if (left !== table.hasAttribute('data-more-left')) table.toggleAttribute('data-more-left', left);
  if (right !== table.hasAttribute('data-more-right')) table.toggleAttribute('data-more-right', right);
}

/**
 * Name of a line, with its group where there are several.
 * @param {View} view
 * @param {Line} line
 */
export function lineName(view, line) {
  const names = view.constants.group_names ?? [];
  const group =
    line.group !== null && names.length > 1
      ? html` <span class="group-name">${names[line.group] ?? line.group}</span>`
      : nothing;
  const parts = line.tail === 'sort_key_part' ? html`<span class="hint parts">${view.t('sort_key.parts')}</span>` : nothing;
  const own = view.schema.def(line.space)?.is_own;
  return html`<span class="name ${own ? 'own' : ''}"
    title=${own ? view.t('name.own.what') : nothing}>${termName(line.space)}</span>${group}${parts}`;
}

const ARITHMETIC = new Set(['+', '-', '*', '//', '%']);
/** Cells of a line looked at, from its first to its last, and how long a formula may be to stand beside a name. */
const HINT_CELLS = 64;
const HINT_LENGTH = 44;

/**
 * How the cells of a line are computed in this step, in names; nothing where they are computed in different ways.
 * @param {View} view
 * @param {Line} line
 */
export function hint(view, line) {
  const space = view.step.space(line.space);
  const program = view.links.program(line.space);
  const cases = view.schema.def(line.space)?.cases ?? [];
  const prefix = line.group === null ? [] : [line.group];
  /** @type {Set<string>} */
  const found = new Set();
  const count = space?.rowLength(prefix) ?? 0;
  for (let entry = 0; space && program && entry < count; entry += Math.ceil(count / HINT_CELLS)) {
    const at = [...prefix, entry];
    const formula = cases[program.caseOf(at, space.get(at))?.index ?? -1]?.formula;
    if (!Array.isArray(formula)) continue;
    found.add(ARITHMETIC.has(formula[0]) ? symbolic(formula) : lookUp(formula, (name) => view.schema.def(name)?.holds));
  }
  const [text] = found;
  return found.size === 1 && text && text.length <= HINT_LENGTH ? html`<span class="hint">${text}</span>` : nothing;
}

customElements.define('pw-rows', RowsTable);
