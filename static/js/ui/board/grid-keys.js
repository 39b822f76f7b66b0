// @ts-check
/**
 * Arrow keys inside a table: one cell of a table is in the tab order, the arrows move it.
 *
 * Cells are the elements with `data-cell`, rows the `tr`. A table that draws only a window brings the wanted
 * row or column into sight itself (`bring`).
 */

/**
 * @param {HTMLElement} table
 * @param {KeyboardEvent} event
 * @param {{bring: (direction: 'left' | 'right' | 'up' | 'down' | 'home' | 'end') => boolean}} options
 *   `bring` scrolls one entry further and draws it; false if there is none
 * @returns {boolean} the key was ours
 */
export function moveFocus(table, event, options) {
  if (event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return false;
  const cell = /** @type {HTMLElement | null} */ (document.activeElement?.closest('[data-cell]'));
  if (!cell || !table.contains(cell)) return false;
  const direction = DIRECTIONS[event.key];
  if (!direction) return false;
  if (direction === 'home' || direction === 'end') {
    const key = cell.dataset.cell;
    options.bring(direction);
    const row = rowOf(table, key, cell);
    const cells = cellsOf(row);
    focusCell(table, cells[direction === 'home' ? 0 : cells.length - 1]);
    return true;
  }
  let next = neighbour(cell, direction);
  if (!next) {
    const key = cell.dataset.cell;
    if (!options.bring(direction)) return true;
    const again = find(table, key);
    next = again ? neighbour(again, direction) : null;
  }
  if (next) focusCell(table, next);
  return true;
}

/** @type {Record<string, 'left' | 'right' | 'up' | 'down' | 'home' | 'end'>} */
const DIRECTIONS = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down', Home: 'home', End: 'end' };

/** @param {Element} root @param {string | undefined} key */
export function find(root, key) {
  return key ? /** @type {HTMLElement | null} */ (root.querySelector(`[data-cell="${CSS.escape(key)}"]`)) : null;
}

/** @param {Element | null} row @returns {HTMLElement[]} */
function cellsOf(row) {
  return row ? /** @type {HTMLElement[]} */ ([...row.querySelectorAll('[data-cell]')]) : [];
}

/** @param {HTMLElement} table @param {string | undefined} key @param {HTMLElement} fallback */
function rowOf(table, key, fallback) {
  return (find(table, key) ?? fallback).closest('tr');
}

/** @param {HTMLElement} cell @param {string} direction */
function neighbour(cell, direction) {
  const row = cell.closest('tr');
  const cells = cellsOf(row);
  const place = cells.indexOf(cell);
  if (direction === 'left') return cells[place - 1] ?? null;
  if (direction === 'right') return cells[place + 1] ?? null;
  const rows = [...(row?.closest('table')?.rows ?? [])];
  const step = direction === 'up' ? -1 : 1;
  const middle = centre(cell);
  for (
    let other = rows.indexOf(/** @type {HTMLTableRowElement} */ (row)) + step;
    other >= 0 && other < rows.length;
    other += step
  ) {
    const candidates = cellsOf(rows[other]);
    if (candidates.length === 0) continue;
    return candidates.reduce((best, one) => (Math.abs(centre(one) - middle) < Math.abs(centre(best) - middle) ? one : best));
  }
  return null;
}

/** @param {HTMLElement} element */
function centre(element) {
  const box = element.getBoundingClientRect();
  return box.left + box.width / 2;
}

/** @param {HTMLElement} table @param {HTMLElement | undefined | null} cell */
export function focusCell(table, cell) {
  if (!cell) return;
  setEntry(table, cell);
  cell.focus({ preventScroll: true });
  cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/**
 * Makes one cell the way into the table for Tab.
 * @param {HTMLElement} table
 * @param {HTMLElement | null} [cell] the first one if not given
 */
export function setEntry(table, cell) {
  const entry = cell ?? table.querySelector('[data-cell][tabindex="0"]') ?? table.querySelector('[data-cell]');
  for (const old of table.querySelectorAll('[data-cell][tabindex="0"]'))
    if (old !== entry) old.setAttribute('tabindex', '-1');
  entry?.setAttribute('tabindex', '0');
}
