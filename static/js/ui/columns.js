// @ts-check
/** Width of a token column: wide enough for the longest number of every space that shares the strip. */
import { groupDigits } from '../core/i18n.js';
import { axisOf } from '../core/trace.js';
import { isCount } from './cell.js';

/** @typedef {import('./view.js').View} View */

const DIGIT = 7.6;
const ROOM = 16;
const LEAST = 56;

/** Long enough to widen all the other columns; a strip that shows it is wider than its neighbours. */
const APART = /byte_offsets/;

/**
 * @param {View} view
 * @returns {Map<string, number>} axis -> pixels
 */
export function sizesOf(view) {
  /** @type {Map<string, string[]>} */
  const along = new Map();
  for (const space of view.step.spaces.values()) {
    const dims = space.dims[0] === 'group' && space.dims.length > 1 ? space.dims.slice(1) : space.dims;
    if (dims.length !== 1 || APART.test(space.name)) continue;
    const axis = axisOf(dims[0]);
    along.set(axis, [...(along.get(axis) ?? []), space.name]);
  }
  return new Map([...along].map(([axis, names]) => [axis, widthOf(view, names)]));
}

/** @param {View} view @param {string[]} names */
export function widthOf(view, names) {
  const longest = names.reduce((most, name) => Math.max(most, digits(view.step.space(name))), 0);
  return Math.max(LEAST, Math.ceil(longest * DIGIT) + ROOM);
}

/** Characters of the longest number; words are set small enough for the narrowest column. @param {import('../core/trace.js').Space | null} space */
function digits(space) {
  if (!space?.numbers) return 0;
  if (space.dtype === 'bool') return 5;
  let most = 0;
  for (const number of space.numbers) if (Math.abs(number) > most) most = Math.abs(number);
  return (isCount(space.name) ? groupDigits(most) : String(most)).length;
}
