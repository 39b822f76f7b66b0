// @ts-check
/** Width of a token column: wide enough for the longest number of every space that shares the strip. */
import { groupDigits } from '../../core/i18n.js';
import { isGrouped } from '../../core/trace/trace.js';

/** @typedef {import('../view.js').View} View */

/**
 * Pixels, by how the page is shown: a digit, the room beside a number, the narrowest column, the heads of strips; `row`
 * and `big` are the tokens `--row` and `--row-big`.
 */
const SIZES = {
  board: { digit: 7.6, room: 16, least: 56, head: 148, headBig: 188, row: 26, big: 30 },
  present: { digit: 8.8, room: 12, least: 54, head: 108, headBig: 108, row: 22, big: 22 },
  embed: { digit: 7.6, room: 14, least: 54, head: 140, headBig: 160, row: 26, big: 26 },
};

/** Room for the name of a group, where the names of spaces leave none. */
const GROUP = 44;

/**
 * What strips along an axis have in common: the numbers of their key lines, which stay from stage to stage. A strip that
 * shows longer ones besides is wider than its neighbours.
 * @param {View} view
 * @returns {Map<string, number>} axis -> pixels
 */
export function sizesOf(view) {
  const { schema } = view;
  /** @type {Map<string, string[]>} */
  const along = new Map();
  for (const space of view.step.spaces.values()) {
    const dims = isGrouped(space.dims) ? space.dims.slice(1) : space.dims;
    if (dims.length !== 1 || !schema.isKey(space.name)) continue;
    const axis = schema.axisOf(dims[0]);
    along.set(axis, [...(along.get(axis) ?? []), space.name]);
  }
  return new Map([...along].map(([axis, names]) => [axis, widthOf(view, names)]));
}

/** Height of a row, in the stage at hand or beside it. @param {View} view @param {boolean} big */
export function rowHeight({ mode }, big) {
  return big ? SIZES[mode].big : SIZES[mode].row;
}

/**
 * Width of the names at the left of a strip; with several groups a name has its group behind it.
 * @param {View} view
 * @param {boolean} big
 */
export function headWidth({ mode, constants }, big) {
  const grouped = mode === 'present' && (constants.group_names ?? []).length > 1 ? GROUP : 0;
  return (big ? SIZES[mode].headBig : SIZES[mode].head) + grouped;
}

/** @param {View} view @param {string[]} names */
export function widthOf(view, names) {
  const { digit, room, least } = SIZES[view.mode];
  const longest = names.reduce((most, name) => Math.max(most, digits(view, view.step.space(name))), 0);
  return Math.max(least, Math.ceil(longest * digit) + room);
}

/**
 * Characters of the longest number; words are set small enough for the narrowest column.
 * @param {View} view
 * @param {import('../../core/trace/trace.js').Space | null} space
 */
function digits({ schema }, space) {
  if (!space?.numbers) return 0;
  if (space.dtype === 'bool') return 5;
  let most = 0;
  for (const number of space.numbers) if (Math.abs(number) > most) most = Math.abs(number);
  return (schema.isCount(space.name) ? groupDigits(most) : String(most)).length;
}
