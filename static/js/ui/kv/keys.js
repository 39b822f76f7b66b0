// @ts-check
/** Arrow keys among blocks and slots: left and right in order of ids, up and down to what stands above and below. */
import { focusCell } from '../board/grid-keys.js';

/** @typedef {'up' | 'down' | 'home' | 'end'} Direction */

/**
 * @param {HTMLElement} map
 * @param {KeyboardEvent} event
 * @param {(direction: Direction) => boolean} bring scrolls a line on, or to an end, and draws; false if there is no more
 * @returns {boolean} the key was ours
 */
export function moveInMap(map, event, bring) {
  if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return false;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const move = MOVES[event.key];
  if (!move || !focused?.dataset.entry || !map.contains(focused)) return false;
  if (move === 'home' || move === 'end') {
    bring(move);
    const cells = cellsOf(map);
    focusCell(map, cells[move === 'home' ? 0 : cells.length - 1]);
    return true;
  }
  const key = keyOf(focused);
  let next = neighbour(map, key, move);
  if (!next && bring(move === 'left' || move === 'up' ? 'up' : 'down')) next = neighbour(map, key, move);
  if (next) focusCell(map, next);
  return true;
}

/** @type {Record<string, 'left' | 'right' | Direction>} */
const MOVES = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down', Home: 'home', End: 'end' };

/** @param {HTMLElement} map */
function cellsOf(map) {
  return /** @type {HTMLElement[]} */ ([...map.querySelectorAll('[data-entry][tabindex]')]);
}

/** A slot or a block's name, also after the map was drawn again. @param {HTMLElement} cell */
function keyOf(cell) {
  return `${cell.dataset.entry}|${cell.dataset.slot ?? ''}`;
}

/** @param {HTMLElement} map @param {string} key @param {string} move */
function neighbour(map, key, move) {
  const cells = cellsOf(map);
  const place = cells.findIndex((cell) => keyOf(cell) === key);
  if (place < 0) return null;
  if (move === 'left') return cells[place - 1] ?? null;
  if (move === 'right') return cells[place + 1] ?? null;
  const from = cells[place].getBoundingClientRect();
  const sign = move === 'up' ? -1 : 1;
  /** @type {HTMLElement | null} */
  let best = null;
  let least = Infinity;
  for (const cell of cells) {
    const box = cell.getBoundingClientRect();
    const down = sign * (box.top + box.height / 2 - from.top - from.height / 2);
    if (down < 9) continue;
    const distance = down * 1000 + Math.abs(box.left + box.width / 2 - from.left - from.width / 2);
    if (distance < least) [least, best] = [distance, cell];
  }
  return best;
}
