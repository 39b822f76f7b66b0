// @ts-check
/** Where blocks are drawn: the grid of the whole pool, and the lines of the list of held blocks with its gaps. */

/**
 * @typedef {{size: number, columns: number, rows: number, per: number}} Grid  `per` block ids share one square of `size`
 *   px
 */
/**
 * @typedef {{kind: 'null'} | {kind: 'gap', first: number, last: number} | {kind: 'block', entry: number, id: number}} Item
 */

const SIZES = [22, 18, 14, 12, 10, 8, 6, 5];

/**
 * The largest squares with which every block has one; in a pool too large for that a square stands for a power of two.
 * @param {{count: number, width: number, most: number}} room  `most` px high
 * @returns {Grid}
 */
export function gridOf({ count, width, most }) {
  for (const size of SIZES) {
    const columns = round(Math.floor(width / size));
    const rows = Math.ceil(count / columns);
    if (rows * size <= most) return { size, columns: Math.min(columns, count), rows, per: 1 };
  }
  const size = SIZES[SIZES.length - 1];
  const columns = round(Math.floor(width / size));
  let per = 2;
  while (Math.ceil(count / per / columns) * size > most) per *= 2;
  return { size, columns, rows: Math.ceil(count / per / columns), per };
}

/** Lines of a number of blocks that is easy to count in. @param {number} columns */
function round(columns) {
  const step = columns >= 32 ? 16 : columns >= 16 ? 8 : columns >= 8 ? 4 : 1;
  return Math.max(1, columns - (columns % step));
}

/**
 * Blocks in id order with what lies between them, packed into lines.
 * @param {import('./pool.js').Pool} pool
 * @param {{width: number, block: number, gap: number, space: number}} size all in px
 * @returns {Item[][]}
 */
export function linesOf(pool, { width, block, gap, space }) {
  /** @type {Item[][]} */
  const lines = [[]];
  let used = 0;
  const put = (/** @type {Item} */ item) => {
    const wide = item.kind === 'block' ? block : gap;
    if (used > 0 && used + space + wide > width) {
      lines.push([]);
      used = 0;
    }
    lines[lines.length - 1].push(item);
    used += (used > 0 ? space : 0) + wide;
  };
  put({ kind: 'null' });
  let last = 0;
  for (const entry of pool.entries) {
    const id = pool.id(entry);
    if (id === last) continue; // a shared block is drawn once
    if (id > last + 1) put({ kind: 'gap', first: last + 1, last: id - 1 });
    put({ kind: 'block', entry, id });
    last = id;
  }
  if (last + 1 < pool.numBlocks) put({ kind: 'gap', first: last + 1, last: pool.numBlocks - 1 });
  return lines;
}

/** The line that shows a block id, or the gap it is in. @param {Item[][]} lines @param {number} id */
export function lineOf(lines, id) {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startOf(lines[middle][0]) <= id) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** @param {Item} item @returns {number} */
export function startOf(item) {
  return item.kind === 'null' ? 0 : item.kind === 'gap' ? item.first : item.id;
}

/** @param {Item} item @returns {number} */
export function endOf(item) {
  return item.kind === 'null' ? 0 : item.kind === 'gap' ? item.last : item.id;
}
