// @ts-check
/**
 * A table with one column per token: what every token carries, under the boundaries of the requests.
 *
 * Only the columns in sight are in the document, and strips along the same axis scroll together, so a column
 * stays one token from the input ids down to the slot.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { scrollTo, visible } from '../../core/viewport.js';
import { cellKey } from '../../core/trace/trace.js';
import { listCell, valueCell } from './cell.js';
import { headWidth } from './columns.js';
import { find, moveFocus, setEntry } from './grid-keys.js';
import { accentOf } from '../names.js';
import { hint, lineName } from './rows-table.js';
import { letterOf, requestClass } from '../tag.js';
import { termName } from '../glossary/terms.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/layout.js').Line} Line */
/**
 * @typedef {object} StripData
 * @property {View} view
 * @property {string} label
 * @property {string} axis
 * @property {string} dim
 * @property {number} count
 * @property {number} real  columns before the padding
 * @property {Line[]} lines
 * @property {boolean} big
 * @property {number} width  of a column
 * @property {(entry: number) => string | null} owner
 * @property {string | null} boundary  space that holds where each batch row starts, drawn above the columns
 */

const WINDOWED = 80;
/** Width of what stands behind the last column: where the tokens end. */
const END = { tokens: 36, others: 8 };

/** @type {Map<string, {left: number, strips: Set<TokenStrip>}>} */
const together = new Map();

export class TokenStrip extends HTMLElement {
  /** @type {StripData | null} */
  #data = null;
  /** @type {{starts: Map<number, number>, ends: number[]}} */
  #boundaries = { starts: new Map(), ends: [] };
  #mates = '';
  #width = 0;
  #sizes = new ResizeObserver(() => this.#resized());

  connectedCallback() {
    this.#sizes.observe(this);
    this.addEventListener('scroll', () => this.#scrolled(), { capture: true, passive: true });
    this.addEventListener('keydown', (event) => {
      if (moveFocus(this, event, { bring: (direction) => this.#bring(direction) })) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
  }

  disconnectedCallback() {
    this.#sizes.disconnect();
    together.get(this.#mates)?.strips.delete(this);
  }

  /** @param {StripData} data */
  set data(data) {
    const moved = this.#data?.view.index !== data.view.index;
    this.#data = data;
    this.#boundaries = boundariesOf(data);
    together.get(this.#mates)?.strips.delete(this);
    this.#mates = `${data.axis}|${data.width}`;
    const mates = together.get(this.#mates) ?? { left: 0, strips: new Set() };
    together.set(this.#mates, mates);
    mates.strips.add(this);
    if (moved) mates.left = 0;
    this.#draw();
    const scroller = this.querySelector('.scroll');
    if (scroller) scroller.scrollLeft = mates.left;
    setEntry(this);
  }

  /** Another width shows more columns, or fewer. */
  #resized() {
    if (this.clientWidth !== this.#width && this.clientWidth !== 0) this.#draw();
  }

  get axis() {
    return this.#data?.axis ?? '';
  }

  get lines() {
    return this.#data?.lines ?? [];
  }

  /** Scrolls a column into sight. @param {number} entry */
  reveal(entry) {
    const scroller = this.querySelector('.scroll');
    if (!scroller || !this.#data || entry >= this.#data.count) return;
    const extent = scroller.clientWidth - this.#head();
    scroller.scrollLeft = scrollTo({ scroll: scroller.scrollLeft, extent, size: this.#data.width, index: entry });
    this.#draw();
  }

  #head() {
    return this.#data ? headWidth(this.#data.view, this.#data.big && !narrow()) : 0;
  }

  #scrolled() {
    const scroller = this.querySelector('.scroll');
    const mates = together.get(this.#mates);
    if (scroller && mates && mates.left !== scroller.scrollLeft) {
      mates.left = scroller.scrollLeft;
      for (const mate of mates.strips) {
        const other = mate === this ? null : mate.querySelector('.scroll');
        if (other) other.scrollLeft = mates.left;
      }
    }
    this.#draw();
  }

  /** @param {'left' | 'right' | 'up' | 'down' | 'home' | 'end'} direction */
  #bring(direction) {
    const scroller = this.querySelector('.scroll');
    if (!scroller || !this.#data || direction === 'up' || direction === 'down') return false;
    const before = scroller.scrollLeft;
    const step = this.#data.width * 4;
    if (direction === 'left') scroller.scrollLeft -= step;
    if (direction === 'right') scroller.scrollLeft += step;
    if (direction === 'home') scroller.scrollLeft = 0;
    if (direction === 'end') scroller.scrollLeft = scroller.scrollWidth;
    this.#draw();
    return scroller.scrollLeft !== before;
  }

  #draw() {
    const data = this.#data;
    if (!data) return;
    this.#width = this.clientWidth;
    const { view, count, width, lines } = data;
    const scroller = this.querySelector('.scroll');
    const head = this.#head();
    const extent = Math.max(0, (scroller?.clientWidth || 1200) - head);
    const window =
      count <= WINDOWED
        ? { first: 0, last: count, before: 0, after: 0 }
        : visible({ scroll: scroller?.scrollLeft ?? 0, extent, size: width, count });
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const key = focused && this.contains(focused) ? focused.dataset.cell : undefined;
    /** @type {number[]} */
    const entries = [];
    for (let entry = window.first; entry < window.last; entry += 1) entries.push(entry);
    const owners = entries.map((entry) => (entry < data.real ? data.owner(entry) : null));
    const gap = (/** @type {number} */ size) => (size > 0 ? html`<td class="gap" aria-hidden="true"></td>` : nothing);
    const edge = (/** @type {number} */ entry) =>
      `${this.#boundaries.starts.has(entry) ? 'q' : ''} ${entry >= data.real ? 'pad' : ''}`;
    const rowOf = (
      /** @type {unknown} */ name,
      /** @type {(entry: number, place: number) => unknown} */ cell,
      /** @type {string} */ kind,
      /** @type {unknown} */ end = '',
    ) =>
      html`<tr class=${kind}>${name}${gap(window.before)}${entries.map(cell)}${gap(window.after)}<td
        class="end">${end}</td></tr>`;
    const end = data.axis === 'flat_token_idx' ? END.tokens : END.others;
    const total = head + count * width + end;
    const inSight = Math.ceil((scroller?.scrollLeft ?? 0) / width);
    render(
      html`<div class="scroll" role="presentation">
        <table role="grid" class=${this.#boundaries.ends.length > 0 ? 'bounded' : ''} aria-label=${data.label}
          aria-colcount=${count + 1} .style=${`width:${total}px`}>
          <colgroup><col .style=${`width:${head}px`}>${
            window.before > 0
              ? html`<col
            .style=${`width:${window.before}px`}>`
              : nothing
          }${entries.map(
            () => html`<col
            .style=${`width:${width}px`}>`,
          )}${
            window.after > 0
              ? html`<col
            .style=${`width:${window.after}px`}>`
              : nothing
          }<col .style=${`width:${end}px`}></colgroup>
          <thead>
            ${data.boundary ? rowOf(this.#boundaryName(data), (entry) => this.#boundary(data, entry, inSight), 'cut', this.#ends(data)) : nothing}
            <tr class="indices"><th scope="row" class=${accentOf(data.axis)}><span
              class="name">${termName(data.dim)}</span></th>${gap(window.before)}${entries.map(
                (entry) => html`<th
              scope="col" data-axis=${data.axis} data-index=${entry}
              class="${edge(entry)} ${accentOf(data.axis)}">${entry}</th>`,
              )}${gap(window.after)}<td class="end"></td></tr>
          </thead>
          <tbody>
            ${
              data.boundary
                ? rowOf(
                    html`<th scope="row">${view.t('table.request')}</th>`,
                    (entry, place) =>
                      html`<td class="band ${edge(entry)} ${requestClass(view, owners[place])}" data-axis=${data.axis}
                        data-index=${entry} title=${owners[place] ?? nothing}>${letterOf(view, owners[place])}</td>`,
                    'bands',
                  )
                : nothing
            }
            ${lines.map((line, place) =>
              rowOf(
                html`<th scope="row"
                  class=${accentOf(line.holds)}>${lineName(view, line)}${data.big ? hint(view, line) : nothing}</th>`,
                (entry) =>
                  line.list
                    ? listCell(view, line, entry, { most: 4, open: false, must: [] })
                    : valueCell(view, line, entry, edge(entry)),
                place > 0 && lines[place - 1].group !== line.group && line.group !== null ? 'group-start' : '',
              ),
            )}
          </tbody>
        </table>
      </div>
      ${
        total > head + extent + end && count > 0
          ? html`<p
        class="window">${view.t(data.axis === 'flat_token_idx' ? 'strip.window' : 'strip.entries', this.#shown(extent))}</p>`
          : nothing
      }`,
      this,
    );
    if (key && focused?.dataset.cell !== key) find(this, key)?.focus({ preventScroll: true });
    say(this, 'drawn');
  }

  /** @param {number} extent */
  #shown(extent) {
    const data = /** @type {StripData} */ (this.#data);
    const left = this.querySelector('.scroll')?.scrollLeft ?? 0;
    const first = Math.min(data.count - 1, Math.ceil(left / data.width));
    const last = Math.max(first, Math.min(data.count - 1, Math.floor((left + extent) / data.width) - 1));
    return { first: String(first), last: String(last), n: data.count };
  }

  /** @param {StripData} data */
  #boundaryName(data) {
    return html`<th scope="row" class="sp-tok"><span class="name">${termName(data.boundary ?? '')}</span></th>`;
  }

  /**
   * The token where the request of a column begins: at its first column, and at the first one in sight.
   * @param {StripData} data
   * @param {number} entry
   * @param {number} inSight
   */
  #boundary(data, entry, inSight) {
    const row = this.#boundaries.starts.get(entry);
    if (!data.boundary) return html`<td></td>`;
    if (row === undefined) {
      if (entry !== inSight || inSight === 0) return html`<td></td>`;
      let start = entry;
      while (start > 0 && !this.#boundaries.starts.has(start)) start -= 1;
      return html`<td class="from"><span class="v"
        title=${data.view.t('strip.begins', { token: String(start) })}>‹${start}</span></td>`;
    }
    return html`<td class="c q" tabindex="-1" data-cell=${cellKey(data.boundary, [row])}><span
      class="v">${entry}</span></td>`;
  }

  /** The boundaries after the last token: the end, repeated for padded rows. @param {StripData} data */
  #ends(data) {
    const space = data.boundary ? data.view.step.space(data.boundary) : null;
    if (!space) return nothing;
    const shown =
      this.#boundaries.ends.length > 2
        ? [this.#boundaries.ends[0], this.#boundaries.ends[this.#boundaries.ends.length - 1]]
        : this.#boundaries.ends;
    return html`<span class="ends">${shown.map(
      (row) => html`<span class="c" tabindex="-1"
      data-cell=${cellKey(space.name, [row])}><span class="v">${space.get([row])}</span></span>`,
    )}</span>`;
  }
}

/** @param {StripData} data */
function boundariesOf(data) {
  /** @type {Map<number, number>} */
  const starts = new Map();
  /** @type {number[]} */
  const ends = [];
  const space = data.boundary ? data.view.step.space(data.boundary) : data.view.step.space('query_start_loc');
  if (space && data.axis === 'flat_token_idx') {
    for (let row = 0; row < space.length; row += 1) {
      const start = /** @type {number} */ (space.get([row]));
      if (row < data.view.step.numReqs) starts.set(start, row);
      else ends.push(row);
    }
  }
  return { starts, ends };
}

function narrow() {
  return matchMedia('(max-width: 700px)').matches;
}

customElements.define('pw-strip', TokenStrip);
