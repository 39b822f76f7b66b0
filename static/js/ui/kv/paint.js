// @ts-check
/** Paints the pool: every block a square, its owner's colour and hatch as far as it is filled. */
import { letterOf, requestClass } from '../tag.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/kv/pool.js').Pool} Pool */
/** @typedef {import('../../core/kv/layout.js').Grid} Grid */
/** @typedef {{fill: string, ink: string, hatch: CanvasPattern | null}} Look */

/** Colours as the theme has them now, and patterns made of them. */
export class Palette {
  /** @param {HTMLElement} host an element of the page that the tokens apply to @param {CanvasRenderingContext2D} context */
  constructor(host, context) {
    this.context = context;
    this.probe = document.createElement('i');
    this.probe.hidden = true;
    host.append(this.probe);
    /** @type {Map<string, Look>} */
    this.looks = new Map();
    /** @type {Map<string, string>} */
    this.tokens = new Map();
  }

  /** After a change of theme. */
  forget() {
    this.looks.clear();
    this.tokens.clear();
  }

  /** @param {string} name of a token, without its dashes */
  token(name) {
    let colour = this.tokens.get(name);
    if (colour === undefined) {
      this.probe.className = '';
      this.probe.style.color = `var(--${name})`;
      colour = getComputedStyle(this.probe).color;
      this.probe.style.color = '';
      this.tokens.set(name, colour);
    }
    return colour;
  }

  /** @param {string} classes of a request, '' for nobody */
  look(classes) {
    let look = this.looks.get(classes);
    if (!look) {
      this.probe.className = classes;
      this.probe.style.color = 'var(--inky, var(--soft))';
      this.probe.style.backgroundColor = 'var(--fill, var(--line-strong))';
      const style = getComputedStyle(this.probe);
      look = { fill: style.backgroundColor, ink: style.color, hatch: null };
      this.probe.removeAttribute('style');
      look.hatch = classes ? hatch(this.context, Number(/rq-h(\d)/.exec(classes)?.[1] ?? 0), look.ink) : null;
      this.looks.set(classes, look);
    }
    return look;
  }
}

const TILE = 5;
/** The hatches of request.css, by number: dots, rising, upright, falling, level, grid. */
const STROKES = [
  [],
  [[0, 5, 5, 0]],
  [[2.5, 0, 2.5, 5]],
  [[0, 0, 5, 5]],
  [[0, 2.5, 5, 2.5]],
  [
    [2.5, 0, 2.5, 5],
    [0, 2.5, 5, 2.5],
  ],
];

/** @param {CanvasRenderingContext2D} context @param {number} number @param {string} ink */
function hatch(context, number, ink) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = TILE;
  const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
  pen.globalAlpha = 0.5;
  pen.strokeStyle = pen.fillStyle = ink;
  if (number === 0) pen.fillRect(1, 1, 2, 2);
  for (const [x, y, toX, toY] of STROKES[number]) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
    pen.stroke();
  }
  return context.createPattern(tile, 'repeat');
}

/**
 * @typedef {{held: number, stale: number, other: number, filled: number, written: number, readable: number, req: string |
 *   null, mixed: boolean}} Square
 */

/**
 * What each square of the grid stands for; squares of free blocks alone are left out.
 * @param {Pool} pool
 * @param {Grid} grid
 */
export function squaresOf(pool, grid) {
  /** @type {Map<number, Square>} */
  const squares = new Map();
  const at = (/** @type {number} */ id) => {
    const place = Math.floor(id / grid.per);
    let square = squares.get(place);
    if (!square)
      squares.set(
        place,
        (square = { held: 0, stale: 0, other: 0, filled: 0, written: 0, readable: 0, req: null, mixed: false }),
      );
    return square;
  };
  for (const entry of pool.held.values()) {
    const square = at(pool.id(entry));
    const { filled, written, readable } = pool.slots(entry);
    const req = pool.owner(entry);
    square.mixed ||= square.held > 0 && square.req !== req;
    square.req = req;
    square.held += 1;
    square.filled += filled;
    square.written += written;
    square.readable += readable;
  }
  for (const id of pool.others.keys()) if (!pool.held.has(id)) at(id).other += 1;
  for (const [id, place] of pool.stale) {
    const square = at(id);
    square.stale += 1;
    if (square.held === 0) square.req = String(pool.step.space('stale_block_req_ids')?.get([place]));
  }
  return squares;
}

/**
 * @param {CanvasRenderingContext2D} context @param {Palette} palette @param {View} view @param {Pool} pool @param {Grid}
 *   grid
 */
export function paintPool(context, palette, view, pool, grid) {
  const { size, columns, per } = grid;
  const count = Math.ceil(pool.numBlocks / per);
  const side = size - (size >= 8 ? 2 : 1);
  const squares = squaresOf(pool, grid);
  context.lineWidth = 1;
  context.fillStyle = palette.token('sunk');
  context.strokeStyle = palette.token('line');
  for (let place = 0; place < count; place += 1) {
    const x = (place % columns) * size;
    const y = Math.floor(place / columns) * size;
    context.fillRect(x, y, side, side);
    if (size >= 8) context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  }
  for (const [place, square] of squares)
    paintSquare(
      context,
      palette,
      view,
      { x: (place % columns) * size, y: Math.floor(place / columns) * size, side },
      square,
      pool.blockSize,
      per,
    );
  context.strokeStyle = palette.token('edge'); // block 0: crossed out
  context.strokeRect(0.5, 0.5, side - 1, side - 1);
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(side, side);
  context.moveTo(side, 0);
  context.lineTo(0, side);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context @param {Palette} palette @param {View} view
 * @param {{x: number, y: number, side: number}} place @param {Square} square @param {number} blockSize @param {number} per
 */
function paintSquare(context, palette, view, { x, y, side }, square, blockSize, per) {
  const known = square.mixed ? '' : requestClass(view, square.req);
  if (square.held > 0) {
    const look = palette.look(known);
    const share = per > 1 ? square.held / per : square.filled / blockSize;
    const wide = side < 8 ? side : Math.max(share > 0 ? 2 : 0, Math.round(side * share));
    context.globalAlpha = square.readable > 0 || per > 1 ? 1 : 0.55;
    context.fillStyle = look.fill;
    context.fillRect(x, y, wide, side);
    if (look.hatch && square.readable > 0) {
      context.fillStyle = look.hatch;
      context.fillRect(x, y, wide, side);
    }
    context.globalAlpha = 1;
    context.strokeStyle = look.ink;
    if (side >= 8) context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    else shade(context, look.ink, square.readable > 0 ? 0.4 : 0.15, x, y, side);
    if (square.written > 0) {
      const high = side >= 12 ? 4 : 2;
      shade(context, look.ink, 1, x, y + side - high, side, high);
    }
    if (side >= 18 && per === 1) letter(context, look, letterOf(view, square.req), x, y, side);
  } else if (square.stale > 0) {
    context.strokeStyle = palette.token('edge');
    context.setLineDash([2, 2]);
    context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    context.setLineDash([]);
    const look = palette.look(known);
    context.globalAlpha = 0.6;
    context.fillStyle = look.hatch ?? look.fill;
    context.fillRect(x + 1, y + 1, side - 2, side - 2);
    context.globalAlpha = 1;
  } else if (square.other > 0) {
    context.fillStyle = palette.token('line-strong');
    const inset = Math.floor(side / 4);
    context.fillRect(x + inset, y + inset, side - 2 * inset, side - 2 * inset);
  }
}

/**
 * Squares too small for an outline are darkened.
 * @param {CanvasRenderingContext2D} context
 * @param {string} ink
 * @param {number} alpha
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 * @param {number} [high]
 */
function shade(context, ink, alpha, x, y, wide, high = wide) {
  context.globalAlpha = alpha;
  context.fillStyle = ink;
  context.fillRect(x, y, wide, high);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Look} look
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} side
 */
function letter(context, look, text, x, y, side) {
  if ([...text].length > 1) return;
  context.font = '700 12px monospace';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.strokeStyle = look.fill;
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeText(text, x + side / 2, y + side / 2 - 1);
  context.lineWidth = 1;
  context.fillStyle = look.ink;
  context.fillText(text, x + side / 2, y + side / 2 - 1);
}
