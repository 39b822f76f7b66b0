// @ts-check
/** Width of a token column: wide enough for the longest number of any space along the same axis. */
import { axisOf } from '../core/trace.js';

const DIGIT = 7.6;
const ROOM = 16;
const LEAST = 52;

/**
 * @param {import('./view.js').View} view
 * @returns {Map<string, number>} axis -> pixels
 */
export function sizesOf(view) {
  /** @type {Map<string, number>} */
  const widths = new Map();
  for (const space of view.step.spaces.values()) {
    const dims = space.dims[0] === 'group' && space.dims.length > 1 ? space.dims.slice(1) : space.dims;
    if (dims.length !== 1) continue;
    const axis = axisOf(dims[0]);
    // Byte offsets are long and have a line of their own below; they would widen every other column.
    if (space.name === 'slot_byte_offsets') continue;
    const width = Math.max(LEAST, Math.ceil(longest(space) * DIGIT) + ROOM);
    widths.set(axis, Math.max(widths.get(axis) ?? 0, width));
  }
  return widths;
}

/** @param {import('../core/trace.js').Space} space */
function longest(space) {
  if (space.numbers) {
    if (space.dtype === 'bool') return 5;
    let most = 0;
    for (const number of space.numbers) if (Math.abs(number) > most) most = Math.abs(number);
    return String(most).length;
  }
  return 0; // words are set small enough for the narrowest column
}
