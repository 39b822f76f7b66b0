// @ts-check
/**
 * Which cells of the schedule are selected: a rectangle between the cell in focus and the cell that it was drawn to. Rows
 * are requests, columns steps; column -1 is the prompt length.
 */

/** @typedef {{row: number, column: number}} Place */
/** @typedef {{anchor: Place, head: Place}} Selection */
/** @typedef {{top: number, left: number, bottom: number, right: number}} Rectangle  all inclusive */
/** @typedef {{rows: number, columns: number}} Size  of the schedule */

/** @param {Place} place @returns {Selection} */
export function only(place) {
  return { anchor: place, head: place };
}

/** @param {Selection} selection @returns {Rectangle} */
export function rectangle({ anchor, head }) {
  return {
    top: Math.min(anchor.row, head.row),
    left: Math.min(anchor.column, head.column),
    bottom: Math.max(anchor.row, head.row),
    right: Math.max(anchor.column, head.column),
  };
}

/** @param {Rectangle} rectangle @param {number} row @param {number} column */
export function contains({ top, left, bottom, right }, row, column) {
  return row >= top && row <= bottom && column >= left && column <= right;
}

/** @param {Selection} selection */
export function isMany({ anchor, head }) {
  return anchor.row !== head.row || anchor.column !== head.column;
}

/** @param {Place} place @param {Size} size @returns {Place} the nearest that there is */
export function clip({ row, column }, { rows, columns }) {
  return { row: Math.max(0, Math.min(row, rows - 1)), column: Math.max(-1, Math.min(column, columns - 1)) };
}

/** @param {Selection} selection @param {number} down @param {number} right @param {Size} size @returns {Selection} */
export function extend({ anchor, head }, down, right, size) {
  return { anchor, head: clip({ row: head.row + down, column: head.column + right }, size) };
}

/** Every step of every request. @param {Size} size @returns {Selection} */
export function everything({ rows, columns }) {
  return { anchor: { row: 0, column: 0 }, head: { row: rows - 1, column: Math.max(0, columns - 1) } };
}

/**
 * Still of a schedule that was changed, or null where the cell it began in is gone.
 * @param {Selection} selection @param {Size} size @returns {Selection | null}
 */
export function fitted({ anchor, head }, size) {
  if (size.rows === 0) return null;
  return { anchor: clip(anchor, size), head: clip(head, size) };
}
