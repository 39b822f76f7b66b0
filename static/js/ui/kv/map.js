// @ts-check
/**
 * The blocks a group holds, in id order, each a row of slots: whose they are, which hold valid tokens, which this step
 * wrote; between them what lies between, in numbers. A slot written in this step is the same cell as its token's entry
 * of `slot_mappings`, every other slot answers with its block.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { endOf, lineOf, linesOf, startOf } from '../../core/kv/layout.js';
import { groupDigits } from '../../core/i18n.js';
import { cellKey } from '../../core/trace/trace.js';
import { scrollTo, visible } from '../../core/viewport.js';
import { setEntry } from '../board/grid-keys.js';
import { moveInMap } from './keys.js';
import { blockWords, gapWords, pinBlock, pinWords, rangeWords, slotKind, slotWords } from './words.js';
import { requestClass, requestTag } from '../tag.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/kv/layout.js').Item} Item */
/**
 * @typedef {{view: View, big: boolean, pool: import('../../core/kv/pool.js').Pool, written: import('./words.js').Written}}
 *   KvData
 */

/** Blocks of more slots than this are drawn as a bar, not slot by slot. */
const MOST_SLOTS = 64;
const SLOT = { small: 12, big: 15 };
/** Width of what stands between two blocks, for counts of three digits; each more takes `DIGIT`. */
const GAP = { small: 46, big: 64 };
const DIGIT = 7;
const SPACE = 12;
/** Slots in one line. */
const LANE = 16;

export class KvMap extends HTMLElement {
  /** @type {KvData | null} */
  #data = null;
  /** @type {Item[][]} */
  #lines = [];
  #packed = '';
  #pin = '';
  #height = 62;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#draw(), { capture: true, passive: true });
    this.addEventListener('keydown', (event) => {
      if (!moveInMap(this, event, (direction) => this.#bring(direction))) return;
      event.preventDefault();
      event.stopPropagation();
    });
    for (const type of ['pointerover', 'focusin'])
      this.addEventListener(type, (event) => this.#speak(/** @type {Element} */ (event.target)));
    this.addEventListener('pointerleave', () => say(this, 'kv-words', { words: '' }));
    this.addEventListener('click', (event) => this.#click(event));
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  /** @param {KvData} data */
  set data(data) {
    this.#data = data;
    this.#packed = '';
    this.#draw();
    setEntry(this);
    say(this, 'kv-words', { words: '' });
    const pin = data.view.pin ? `${data.view.index}|${data.big}|${cellKey(data.view.pin.space, data.view.pin.at)}` : '';
    const block = pin === this.#pin ? null : pinBlock(data.view, data.pool);
    this.#pin = pin;
    // A token's cell does not imply a place among the blocks: the page cannot ask for it by coordinate.
    if (block !== null) requestAnimationFrame(() => this.zoom(block));
  }

  get axis() {
    return 'kv_block_idx';
  }

  get lines() {
    return [];
  }

  /** Scrolls a block into sight. @param {number} entry */
  reveal(entry) {
    const pool = this.#data?.pool;
    if (pool?.held.has(pool.id(entry)) && pool.value('kv_block_groups', entry) === pool.group) this.zoom(pool.id(entry));
  }

  /** Scrolls a block id, or the gap that it is in, into sight. @param {number} id */
  zoom(id) {
    const scroller = this.querySelector('.scroll');
    if (!scroller) return;
    scroller.scrollTop = scrollTo({
      scroll: scroller.scrollTop,
      extent: scroller.clientHeight,
      size: this.#height,
      index: lineOf(this.#lines, id),
      margin: 0,
    });
    this.#draw();
  }

  /** Draws for the width that it has now. */
  fit() {
    this.#draw();
  }

  #draw() {
    const data = this.#data;
    if (!data) return;
    const { view, big, pool } = data;
    const { blockSize } = pool;
    const slotWidth = big ? SLOT.big : SLOT.small;
    const isBar = blockSize > MOST_SLOTS;
    const least = data.view.step.space('kv_block_num_holders') ? 104 : 64; // how many more hold a block stands in its line
    const width = isBar ? 208 : Math.max(least, Math.min(blockSize, LANE) * slotWidth);
    this.#height = 26 + (isBar ? 1 : Math.ceil(blockSize / LANE)) * (big ? 22 : 18) + 10;
    const packed = `${this.clientWidth}|${big}`;
    if (packed !== this.#packed)
      this.#lines = linesOf(pool, {
        width: Math.max(width, this.clientWidth - 14),
        block: width,
        gap: gapWidth(data),
        space: SPACE,
      });
    this.#packed = packed;
    const scroller = this.querySelector('.scroll');
    const scroll = scroller?.scrollTop ?? 0;
    const extent = scroller?.clientHeight || 320;
    const window = visible({ scroll, extent, size: this.#height, count: this.#lines.length, spare: 2 });
    const itemOf = (/** @type {Item} */ item) =>
      item.kind === 'block' ? this.#tile(data, item.entry, { width, slotWidth, isBar }) : this.#gap(data, item);
    render(
      html`<div class="scroll ${big ? 'big' : ''}" role="presentation">
        <div role="list" aria-label=${view.t('kv.label')}>
          <div role="presentation" .style=${`height:${window.before}px`}></div>
          ${this.#lines.slice(window.first, window.last).map(
            (line) => html`<div class="tiles" role="presentation"
            .style=${`height:${this.#height}px`}>${line.map(itemOf)}</div>`,
          )}
          <div role="presentation" .style=${`height:${window.after}px`}></div>
        </div>
      </div>
      ${big ? html`<p class="window" data-sight>${this.#sight(scroll, extent)}</p>` : nothing}`,
      this,
    );
    if (this.querySelector('[data-cell]') && !this.querySelector('[data-cell][tabindex="0"]')) setEntry(this);
    say(this, 'drawn');
  }

  /** Says which blocks are in sight, here and to the map of the pool. @param {number} scroll @param {number} extent */
  #sight(scroll, extent) {
    const { view, pool } = /** @type {KvData} */ (this.#data);
    const from = Math.min(this.#lines.length - 1, Math.floor((scroll + 8) / this.#height));
    const to = Math.max(from, Math.min(this.#lines.length, Math.floor((scroll + extent + 8) / this.#height)) - 1);
    const [first, last] = [startOf(this.#lines[from][0]), endOf(this.#lines[to][this.#lines[to].length - 1])];
    const all = first === 0 && last === pool.numBlocks - 1;
    say(this, 'kv-sight', { first, last, all });
    const held = pool.held.size;
    return view.t(all ? 'kv.sight.all' : 'kv.sight', {
      shown: pool.heldWithin(first, last),
      held,
      first: String(first),
      last: String(last),
      n: pool.numBlocks,
    });
  }

  /** Block 0, or the blocks between two that are held. @param {KvData} data @param {Exclude<Item, {kind: 'block'}>} item */
  #gap(data, item) {
    const { view, pool } = data;
    const wide = `width:${gapWidth(data)}px`;
    if (item.kind === 'null')
      return html`<div class="gap-tile null" role="listitem" title=${view.t('kv.block.null', { block: '0' })}
        .style=${wide}><b>0</b><span>${view.t('kv.gap.null')}</span></div>`;
    const words = rangeWords(view, pool, item.first, item.last);
    return html`<div class="gap-tile" role="listitem" data-gap="${item.first}-${item.last}" title=${words}
      .style=${wide}>${gapWords(view, pool, item.first, item.last).map((line) => html`<span>${line}</span>`)}</div>`;
  }

  /** @param {KvData} data @param {number} entry @param {{width: number, slotWidth: number, isBar: boolean}} size */
  #tile({ view, pool, written }, entry, { width, slotWidth, isBar }) {
    const id = pool.id(entry);
    const { blockSize } = pool;
    const reqId = pool.owner(entry);
    const counts = pool.slots(entry);
    const words = view.t('kv.block', { block: String(id), size: blockSize, ...counts });
    const columns = `grid-template-columns:repeat(${Math.min(blockSize, LANE)},${slotWidth}px)`;
    const slotAt = (/** @type {unknown} */ _, /** @type {number} */ offset) => this.#slot(entry, id * blockSize + offset);
    const slots = () => html`<div class="slots" .style=${columns}>${Array.from({ length: blockSize }, slotAt)}</div>`;
    return html`<div class="block ${requestClass(view, reqId)}" role="listitem" data-axis="kv_block_idx" data-index=${entry}
      data-block=${id} .style=${`width:${width}px`}>
      <div class="block-name"><span class="c" tabindex="-1" data-entry=${entry}
        data-cell=${cellKey('kv_block_ids', [entry])}><span class="vh">${view.t('kv.block_word')} </span><span
        class="v">${id}</span></span>${requestTag(view, reqId)}${others(view, pool, id)}<span class="fill"
        title=${words}>${counts.filled}/${blockSize}</span><span class="vh">${words}</span></div>
      ${isBar ? bar(pool.group, entry, id, counts, blockSize, written) : slots()}
    </div>`;
  }

  /** @param {number} entry @param {number} slot */
  #slot(entry, slot) {
    const { view, pool, written } = /** @type {KvData} */ (this.#data);
    const kind = slotKind(pool, written, entry, slot);
    const words = view.t(`kv.slot.${kind}`, { slot: String(slot) });
    const token = written.get(slot);
    const cell = token === undefined ? cellKey('kv_block_ids', [entry]) : cellKey('slot_mappings', [pool.group, token]);
    return html`<i class=${CLASSES[kind]} role="img" tabindex="-1" data-entry=${entry} data-slot=${slot} data-kind=${kind}
      data-cell=${cell} title=${words} aria-label=${words}></i>`;
  }

  /** What is under the pointer or has the focus. @param {Element} target */
  #speak(target) {
    say(this, 'kv-words', { words: this.#wordsOf(target) });
  }

  /** @param {Element} target */
  #wordsOf(target) {
    const { view, pool, written } = /** @type {KvData} */ (this.#data);
    const place = /** @type {HTMLElement | null} */ (target.closest('[data-entry], [data-gap], .null'));
    if (place?.dataset.slot) return slotWords(view, pool, written, Number(place.dataset.entry), Number(place.dataset.slot));
    if (place?.dataset.entry) return blockWords(view, pool, pool.id(Number(place.dataset.entry)));
    return place?.title ?? '';
  }

  /** Slots of one block stand for the same cell: going from one to the next does not unpin it. @param {MouseEvent} event */
  #click(event) {
    const slot = /** @type {Element} */ (event.target).closest('[data-slot]');
    this.#speak(/** @type {Element} */ (event.target));
    if (!(slot instanceof HTMLElement) || slot.classList.contains('w') || !this.#data) return;
    event.stopPropagation();
    say(this, 'pin', { space: 'kv_block_ids', at: [Number(slot.dataset.entry)], step: this.#data.view.index });
  }

  /** @param {'up' | 'down' | 'home' | 'end'} direction @returns {boolean} whether there was more to bring into sight */
  #bring(direction) {
    const scroller = this.querySelector('.scroll');
    if (!scroller) return false;
    const before = scroller.scrollTop;
    if (direction === 'home') scroller.scrollTop = 0;
    else if (direction === 'end') scroller.scrollTop = scroller.scrollHeight;
    else scroller.scrollTop += direction === 'up' ? -this.#height : this.#height;
    this.#draw();
    return scroller.scrollTop !== before;
  }

  /** What to say while nothing is pointed at: what has the focus, else what is pinned. */
  get resting() {
    if (!this.#data) return '';
    const focused = document.activeElement;
    return (
      (focused && this.contains(focused) && this.#wordsOf(focused)) ||
      pinWords(this.#data.view, this.#data.pool, this.#data.written)
    );
  }
}

/** @param {KvData} data */
function gapWidth({ big, pool }) {
  return (big ? GAP.big : GAP.small) + Math.max(0, groupDigits(pool.numBlocks).length - 3) * DIGIT;
}

/**
 * How many more hold a block, with all their names.
 * @param {View} view
 * @param {import('../../core/kv/pool.js').Pool} pool
 * @param {number} id
 */
function others(view, pool, id) {
  const more = pool.owners(id).length - 1;
  return more > 0
    ? html`<span class="others" data-others=${more} title=${blockWords(view, pool, id)}>+${more}</span>`
    : nothing;
}

/** @type {Record<string, string>} */
const CLASSES = { written: 'w c f', rejected: 'w c x', readable: 'f', valid: 'f idle', loaded: 'f l', empty: 'e' };

/**
 * @param {number} group
 * @param {number} entry
 * @param {number} id
 * @param {{filled: number, written: number}} counts
 * @param {number} size
 * @param {Map<number, number>} written
 */
function bar(group, entry, id, counts, size, written) {
  const old = Math.max(0, counts.filled - counts.written);
  let first = id * size;
  while (counts.written > 0 && first < (id + 1) * size && !written.has(first)) first += 1;
  const token = written.get(first);
  const block = cellKey('kv_block_ids', [entry]);
  return html`<div class="fillbar" aria-hidden="true" data-entry=${entry} data-cell=${block}><span class="f"
    .style=${`width:${(old / size) * 100}%`}></span><span class="f w"
    data-cell=${token === undefined ? block : cellKey('slot_mappings', [group, token])}
    .style=${`width:${(Math.min(counts.written, counts.filled) / size) * 100}%`}></span></div>`;
}

customElements.define('pw-kv', KvMap);
