// @ts-check
/** Whether there is anything to draw: an edit, its answer and its link each make a view, and most of each is as it was. */

/** @typedef {import('../view.js').View} View */

/** Small, and made anew for every view. */
const BY_VALUE = new Set(['pin', 'look', 'range']);

/** What the board does not show: all that is about the draft and not about the step that was computed. */
export const NOT_ON_BOARD = new Set([
  'draft',
  'faults',
  'notices',
  'isStale',
  'busy',
  'isEdited',
  'isNothing',
  'isKept',
  'canUndo',
  'canRedo',
]);

/**
 * @param {View | null} before @param {View} after
 * @param {Set<string>} [but] what may differ
 */
export function isSameView(before, after, but = new Set()) {
  if (!before) return false;
  const fields = /** @type {(keyof View)[]} */ (Object.keys(after));
  return fields.every(
    (field) =>
      but.has(field) ||
      before[field] === after[field] ||
      (BY_VALUE.has(field) && JSON.stringify(before[field]) === JSON.stringify(after[field])),
  );
}
