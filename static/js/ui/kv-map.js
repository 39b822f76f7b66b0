// @ts-check
/**
 * The physical blocks in use, in id order, each a row of slots: whose they are, which hold valid tokens, which
 * this step wrote. A slot written in this step is the same cell as its token's entry of `slot_mappings`.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { cellKey, isNull } from '../core/trace.js';
import { scrollTo, visible } from '../core/viewport.js';
import { moveFocus, setEntry } from './grid-keys.js';
import { requestClass, requestTag } from './tag.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {{view: View, big: boolean, group: number}} KvData */

/** Blocks of more slots than this are drawn as a bar, not slot by slot. */
const MOST_SLOTS = 64;
const ROW_HEIGHT = 62;
const SLOT = { small: 12, big: 15 };

export class KvMap extends HTMLElement {
  /** @type {KvData | null} */
  #data = null;
  /** @type {number[]} */
  #blocks = [];
  /** @type {Map<number, number>} slot -> flat token that wrote it in this step */
  #written = new Map();
  #perRow = 1;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#draw(), { capture: true, passive: true });
    this.addEventListener('keydown', (event) => {
      if (moveFocus(this, event, { bring: () => false })) {
        event.preventDefault();
        event.stopPropagation();
      }
    });
    new ResizeObserver(() => this.#draw()).observe(this);
  }

  /** @param {KvData} data */
  set data(data) {
    this.#data = data;
    const { step } = data.view;
    const groups = step.space('kv_block_groups');
    this.#blocks = Array.from({ length: step.space('kv_block_ids')?.size ?? 0 }, (_, block) => block).filter((block) => !groups || groups.get([block]) === data.group);
    this.#written = new Map();
    const slots = step.space('slot_mappings');
    const count = Math.min(step.numTokens, slots?.rowLength([data.group]) ?? 0);
    for (let token = 0; token < count; token += 1) {
      const slot = /** @type {number} */ (slots?.get([data.group, token]));
      if (slot >= 0) this.#written.set(slot, token);
    }
    this.#draw();
    setEntry(this);
  }

  get axis() {
    return 'kv_block_idx';
  }

  get lines() {
    return [];
  }

  /** Scrolls a block into sight. @param {number} block */
  reveal(block) {
    const scroller = this.querySelector('.scroll');
    const place = this.#blocks.indexOf(block);
    if (!scroller || place < 0) return;
    const index = Math.floor(place / this.#perRow);
    scroller.scrollTop = scrollTo({ scroll: scroller.scrollTop, extent: scroller.clientHeight, size: ROW_HEIGHT, index, margin: 0 });
    this.#draw();
  }

  #draw() {
    const data = this.#data;
    if (!data) return;
    const { view, big, group } = data;
    const blockSize = view.constants.block_size?.[group] ?? 16;
    const slotWidth = big ? SLOT.big : SLOT.small;
    const shown = Math.min(blockSize, 16);
    const width = blockSize > MOST_SLOTS ? 208 : shown * slotWidth;
    const lanes = blockSize > MOST_SLOTS ? 1 : Math.ceil(blockSize / 16);
    const height = 26 + lanes * (big ? 20 : 16) + 12;
    this.#perRow = Math.max(1, Math.floor((this.clientWidth + 16) / (width + 16)));
    const rows = Math.ceil(this.#blocks.length / this.#perRow);
    const scroller = this.querySelector('.scroll');
    const window = visible({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 320, size: height, count: rows, spare: 2 });
    const tiles = [];
    for (let place = window.first * this.#perRow; place < Math.min(this.#blocks.length, window.last * this.#perRow); place += 1) {
      tiles.push(this.#tile(data, this.#blocks[place], { blockSize, width, slotWidth }));
    }
    render(
      html`<div class="scroll ${big ? 'big' : ''}" role="presentation">
        ${window.before > 0 ? html`<div .style=${`height:${window.before}px`}></div>` : nothing}
        <div class="tiles" role="list" aria-label=${view.t('kv.label')}>${tiles}</div>
        ${window.after > 0 ? html`<div .style=${`height:${window.after}px`}></div>` : nothing}
      </div>`,
      this,
    );
    this.dispatchEvent(new CustomEvent('pw-drawn', { bubbles: true }));
  }

  /** @param {KvData} data @param {number} block @param {{blockSize: number, width: number, slotWidth: number}} size */
  #tile({ view, group }, block, { blockSize, width, slotWidth }) {
    const { step, t } = view;
    const of = (/** @type {string} */ space) => step.space(space)?.get([block]) ?? NaN;
    const id = /** @type {number} */ (of('kv_block_ids'));
    const row = of('kv_block_rows');
    const owner = isNull(row) ? null : step.space('row_req_ids')?.get([/** @type {number} */ (row)]);
    const reqId = typeof owner === 'string' ? owner : null;
    const filled = /** @type {number} */ (of('kv_block_num_filled'));
    const written = /** @type {number} */ (of('kv_block_num_written'));
    const read = of('kv_block_num_readable');
    const readable = isNull(read) ? filled : Number(read);
    const words = t('kv.block', { block: String(id), filled, size: blockSize, written });
    return html`<div class="block ${requestClass(view, reqId)}" role="listitem" data-axis="kv_block_idx" data-index=${block} data-block=${id} .style=${`width:${width}px`}>
      <div class="block-name"><span class="c" tabindex="-1" data-cell=${cellKey('kv_block_ids', [block])}><span class="vh">${t('kv.block_word')} </span><span class="v">${id}</span></span>${requestTag(view, reqId)}<span class="fill" title=${words}>${filled}/${blockSize}</span><span class="vh">${words}</span></div>
      ${blockSize > MOST_SLOTS ? bar(filled, written, blockSize) : html`<div class="slots" .style=${`grid-template-columns:repeat(${Math.min(blockSize, 16)},${slotWidth}px)`}>${Array.from({ length: blockSize }, (_, offset) => this.#slot(view, group, id * blockSize + offset, offset < filled, offset < readable))}</div>`}
    </div>`;
  }

  /** @param {View} view @param {number} group @param {number} slot @param {boolean} valid @param {boolean} readable */
  #slot(view, group, slot, valid, readable) {
    const token = this.#written.get(slot);
    if (token === undefined) {
      const words = view.t(!valid ? 'kv.slot.empty' : readable ? 'kv.slot.readable' : 'kv.slot.valid', { slot: String(slot) });
      return html`<i class=${!valid ? 'e' : readable ? 'f' : 'f idle'} data-slot=${slot} title=${words}></i>`;
    }
    const words = view.t(valid ? 'kv.slot.written' : 'kv.slot.rejected', { slot: String(slot) });
    return html`<i class="w c ${valid ? 'f' : 'x'}" tabindex="-1" data-slot=${slot} data-cell=${cellKey('slot_mappings', [group, token])} title=${words} aria-label=${words} role="img"></i>`;
  }
}

/** @param {number} filled @param {number} written @param {number} size */
function bar(filled, written, size) {
  const old = Math.max(0, filled - written);
  return html`<div class="fillbar" aria-hidden="true"><span class="f" .style=${`width:${(old / size) * 100}%`}></span><span class="f w" .style=${`width:${(Math.min(written, filled) / size) * 100}%`}></span></div>`;
}

customElements.define('pw-kv', KvMap);
