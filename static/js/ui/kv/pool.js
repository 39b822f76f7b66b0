// @ts-check
/**
 * The whole pool of one group as a canvas: a square for each block id, in id order. A base canvas holds the blocks, an
 * overlay what is looked at, lit, pinned and in sight below, so that hovering paints a few outlines only.
 *
 * For the keyboard and for screen readers it is a slider over block ids that says what the block is.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { gridOf } from '../../core/kv/layout.js';
import { blockAt31, Pool } from '../../core/kv/pool.js';
import { Palette, paintPool } from './paint.js';
import { blockWords, rangeWords } from './words.js';
import { say } from '../view.js';
import { zoomOf } from '../zoom.js';

/** @typedef {import('../view.js').View} View */

const GUTTER = 64;
const MOST = 176;

export class PoolMap extends HTMLElement {
  /** @type {{view: View, pool: Pool} | null} */
  #data = null;
  /** @type {import('../../core/kv/layout.js').Grid | null} */
  #grid = null;
  /** @type {Palette | null} */
  #palette = null;
  /** The block that the keys have reached. */
  #caret = 0;
  #hover = -1;
  /** @type {Map<number, boolean>} lit block -> strongly */
  #lit = new Map();
  /** @type {{first: number, last: number, all: boolean}} */
  #sight = { first: 0, last: 0, all: true };

  connectedCallback() {
    new ResizeObserver(() => this.#draw()).observe(this);
    const again = () => {
      this.#palette?.forget();
      this.#draw();
    };
    new MutationObserver(again).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
    this.addEventListener('pointermove', (event) => this.#look(this.#under(event)));
    this.addEventListener('pointerleave', () => this.#look(-1));
    this.addEventListener('click', (event) => this.#choose(this.#under(event)));
    this.addEventListener('keydown', (event) => this.#key(event));
    // After the page's own answer to the focus, which knows no cell here.
    this.addEventListener('focusin', () => setTimeout(() => this.#visit(this.#caret)));
    this.addEventListener('focusout', () => this.#overlay());
  }

  /** @param {{view: View, pool: Pool}} data */
  set data(data) {
    if (this.#data?.view.links !== data.view.links)
      this.#caret = data.pool.entries.length > 0 ? data.pool.id(data.pool.entries[0]) : 0;
    this.#data = data;
    this.#draw();
  }

  /**
   * What is looked at anywhere on the page.
   * @param {import('../../core/trace/links.js').Links} links
   * @param {Uint8Array | null} lit
   * @param {Record<string, any>} coordinates
   */
  lights(links, lit, coordinates) {
    this.#lit.clear();
    const pool = this.#data?.pool;
    const base = links.base.get('kv_block_ids');
    if (pool && lit && base !== undefined) {
      for (const entry of pool.entries) if (lit[base + entry] > 0) this.#lit.set(pool.id(entry), false);
      const group = coordinates.group ?? pool.group;
      const id = typeof coordinates.kv_block_idx === 'number' ? pool.id(coordinates.kv_block_idx) : coordinates.block_id;
      if (group === pool.group && pool.held.has(id)) this.#lit.set(id, true);
    }
    this.#overlay();
  }

  /** The part of the list below that is in sight. @param {{first: number, last: number, all: boolean}} sight */
  set sight(sight) {
    this.#sight = sight;
    this.#overlay();
  }

  /** What the keys have reached, while they are in use here. */
  get resting() {
    return this.#data && this.querySelector('.pool-squares:focus') ? this.#words(this.#caret) : '';
  }

  /** Draws for the width that it has now. */
  fit() {
    this.#draw();
  }

  #draw() {
    const data = this.#data;
    if (!data || this.clientWidth === 0) return;
    const { view, pool } = data;
    const grid = (this.#grid = gridOf({ count: pool.numBlocks, width: this.clientWidth - GUTTER, most: MOST }));
    const high = grid.rows * grid.size;
    const every = Math.ceil(20 / grid.size);
    const labels = Array.from({ length: Math.ceil(grid.rows / every) }, (_, place) => place * every);
    render(
      html`<div class="pool-ids" aria-hidden="true" .style=${`height:${high}px`}>${labels.map(
        (row) => html`<span
        .style=${`top:${row * grid.size}px`}>${row * grid.columns * grid.per}</span>`,
      )}</div>
        <div class="pool-squares" tabindex="0" role="slider" data-pool=${pool.group}
          aria-label=${view.t('kv.pool.label', { n: pool.numBlocks })} aria-orientation="horizontal" aria-valuemin="0"
          aria-valuemax=${pool.numBlocks - 1} aria-valuenow=${this.#caret} aria-valuetext=${this.#words(this.#caret)}
          .style=${`width:${grid.columns * grid.size}px;height:${high}px`}><canvas></canvas><canvas></canvas></div>
        ${
          grid.per > 1
            ? html`<p class="pool-note"
          data-per=${grid.per}>${view.t('kv.pool.per', { n: grid.per })}</p>`
            : nothing
        }`,
      this,
    );
    const [base, overlay] = this.querySelectorAll('canvas');
    const context = fitted(base, grid.columns * grid.size, high);
    fitted(overlay, grid.columns * grid.size, high);
    this.#palette ??= new Palette(/** @type {HTMLElement} */ (this.parentElement ?? this), context);
    paintPool(context, this.#palette, view, pool, grid);
    this.#overlay();
  }

  /** @param {number} id */
  #words(id) {
    const { view, pool } = /** @type {{view: View, pool: Pool}} */ (this.#data);
    const per = this.#grid?.per ?? 1;
    if (per === 1) return blockWords(view, pool, id);
    const first = id - (id % per);
    return rangeWords(view, pool, first, Math.min(pool.numBlocks, first + per) - 1);
  }

  #overlay() {
    const grid = this.#grid;
    const palette = this.#palette;
    const canvas = this.querySelectorAll('canvas')[1];
    if (!grid || !palette || !canvas || !this.#data) return;
    const context = fitted(canvas, grid.columns * grid.size, grid.rows * grid.size);
    const { pool, view } = this.#data;
    const ring = (/** @type {number} */ id, /** @type {string} */ colour, /** @type {number} */ width) => {
      const { x, y } = this.#square(id);
      const side = grid.size - (grid.size >= 8 ? 2 : 1);
      context.lineWidth = width;
      context.strokeStyle = palette.token(colour);
      context.strokeRect(x + width / 2 - 1, y + width / 2 - 1, side + 2 - width, side + 2 - width);
    };
    if (!this.#sight.all) this.#bracket(context, palette.token('ink'));
    const far = blockAt31(pool.numBlocks, pool.blockSize * view.constants.bytes_per_slot);
    if (far !== null) {
      const { x, y } = this.#square(far);
      context.fillStyle = palette.token('bad');
      context.fillRect(Math.max(0, x - 2), y - 1, 3, grid.size + 1);
    }
    for (const [id, strong] of this.#lit) ring(id, 'pin', strong ? 3 : 1.5);
    if (this.querySelector('.pool-squares:focus')) ring(this.#caret, 'focus', 2.5);
    if (this.#hover >= 0) ring(this.#hover, 'pin', 2);
  }

  /**
   * A line over the squares whose blocks are in sight below.
   * @param {CanvasRenderingContext2D} context
   * @param {string} colour
   */
  #bracket(context, colour) {
    const { size, columns, per } = /** @type {import('../../core/kv/layout.js').Grid} */ (this.#grid);
    const [first, last] = [Math.floor(this.#sight.first / per), Math.floor(this.#sight.last / per)];
    context.fillStyle = colour;
    for (let row = Math.floor(first / columns); row <= Math.floor(last / columns); row += 1) {
      const from = Math.max(first, row * columns) % columns;
      const to = Math.min(last, row * columns + columns - 1) % columns;
      context.fillRect(from * size, row * size - (row > 0 ? 1 : 0), (to - from + 1) * size - 1, 2);
    }
  }

  /** @param {number} id */
  #square(id) {
    const { size, columns, per } = /** @type {import('../../core/kv/layout.js').Grid} */ (this.#grid);
    const place = Math.floor(id / per);
    return { x: (place % columns) * size, y: Math.floor(place / columns) * size };
  }

  /** @param {MouseEvent} event @returns {number} -1 outside */
  #under(event) {
    const grid = this.#grid;
    const squares = this.querySelector('.pool-squares');
    if (!grid || !squares || !this.#data) return -1;
    const box = squares.getBoundingClientRect();
    const size = grid.size * zoomOf(squares);
    const column = Math.floor((event.clientX - box.left) / size);
    const row = Math.floor((event.clientY - box.top) / size);
    if (column < 0 || column >= grid.columns || row < 0 || row >= grid.rows) return -1;
    const id = (row * grid.columns + column) * grid.per;
    return id < this.#data.pool.numBlocks ? id : -1;
  }

  /** The cell that stands for a block: of several in one square, the first held one. @param {number} id */
  #cell(id) {
    const { pool, view } = /** @type {{view: View, pool: Pool}} */ (this.#data);
    const per = this.#grid?.per ?? 1;
    const entry =
      per === 1 ? pool.held.get(id) : pool.entries.find((one) => Math.floor(pool.id(one) / per) === Math.floor(id / per));
    if (entry !== undefined) return { space: 'kv_block_ids', at: [entry], step: view.index };
    const place = pool.stale.get(id);
    return place === undefined ? null : { space: 'stale_block_ids', at: [place], step: view.index };
  }

  /** @param {number} id */
  #look(id) {
    if (id === this.#hover) return;
    this.#hover = id;
    this.#overlay();
    say(this, 'look', { by: 'hover', cell: id < 0 ? null : this.#cell(id) });
    say(this, 'kv-words', { words: id < 0 ? '' : this.#words(id) });
  }

  /** @param {number} id */
  #choose(id) {
    if (id < 0) return;
    this.#caret = id;
    this.#visit(id);
    this.#pin(id);
  }

  /** @param {number} id */
  #pin(id) {
    const cell = this.#cell(id);
    if (cell) say(this, 'pin', cell);
  }

  /** The caret has come to a block: the list below goes there. @param {number} id */
  #visit(id) {
    const squares = this.querySelector('.pool-squares');
    squares?.setAttribute('aria-valuenow', String(id));
    squares?.setAttribute('aria-valuetext', this.#words(id));
    this.#overlay();
    say(this, 'kv-zoom', { id });
    say(this, 'look', { by: 'focus', cell: this.#cell(id) });
    say(this, 'kv-words', { words: this.#words(id) });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const grid = this.#grid;
    if (!grid || !this.#data || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    const last = this.#data.pool.numBlocks - 1;
    const line = grid.columns * grid.per;
    const by = /** @type {Record<string, number>} */ ({
      ArrowLeft: -grid.per,
      ArrowRight: grid.per,
      ArrowUp: -line,
      ArrowDown: line,
      Home: -Infinity,
      End: Infinity,
    })[event.key];
    if (event.key === 'Enter') this.#pin(this.#caret);
    else if (by === undefined) return;
    else {
      this.#caret = Math.max(0, Math.min(last, this.#caret + by));
      this.#visit(this.#caret);
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Makes a canvas that large, sharp and empty.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
function fitted(canvas, width, height) {
  const scale = (devicePixelRatio || 1) * zoomOf(canvas);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

customElements.define('pw-pool', PoolMap);
