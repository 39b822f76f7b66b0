// @ts-check
/** Which cell of the schedule something leads to: a button, an edit, a fault. */
import { placesOf } from './callout.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/scenario/selection.js').Place} Place */

/**
 * What a button adds or repairs.
 * @param {View} view
 * @param {{edit?: string, notice?: string, fault?: import('../view.js').Fault}} button
 * @param {Place} anchor the cell in focus
 * @returns {Place | null}
 */
export function afterButton(view, { edit, notice, fault }, anchor) {
  const { requests, steps } = view.draft;
  if (edit === 'add-request') return { row: requests.length, column: steps.length > 0 ? view.index : 0 };
  if (edit === 'add-step') return { row: anchor.row, column: steps.length };
  if (!fault && !notice) return null;
  const places = placesOf(view, fault ? [fault] : view.faults);
  return places.find(({ row }) => row >= 0) ?? { row: anchor.row, column: places[0]?.column ?? -1 };
}

/**
 * What an edit put there, or what takes the place of what it removed.
 * @param {View} view
 * @param {import('../messages.js').Edit} what
 * @param {Place} anchor
 * @returns {Place | null}
 */
export function afterEdit({ draft, index }, what, { row, column }) {
  const [lastRow, lastStep] = [draft.requests.length - 2, draft.steps.length - 2]; // of what is left
  switch (what.kind) {
    case 'duplicate-request':
      return { row: what.row + 1, column };
    case 'remove-request':
      return {
        row: Math.max(
          0,
          Math.min(
            draft.requests.findIndex(({ req_id }) => req_id === what.req_id),
            lastRow,
          ),
        ),
        column: Math.min(index, lastStep + 1),
      };
    case 'move-request':
      return { row: what.row + what.by, column };
    case 'move-step':
      return { row, column: what.step + what.by };
    case 'insert-step':
      return { row, column: what.step };
    case 'duplicate-step':
      return { row, column: what.step + 1 };
    case 'remove-step':
      return { row, column: Math.min(what.step, lastStep) };
    default:
      return null;
  }
}

/**
 * From one place that something is wrong at to the next.
 * @param {View} view
 * @param {Place} anchor
 * @param {boolean} isHere whether the keyboard is in that cell
 * @param {1 | -1} by
 * @returns {Place | null}
 */
export function nextFault(view, anchor, isHere, by) {
  const places = placesOf(view, view.faults).map(({ row, column }) => ({
    row: row < 0 ? anchor.row : row,
    column: Math.min(column, view.draft.steps.length - 1),
  }));
  const at = isHere ? places.findIndex(({ row, column }) => row === anchor.row && column === anchor.column) : -1;
  return places[at < 0 ? 0 : (at + by + places.length) % places.length] ?? null;
}
