// @ts-check
/** What an embedded page reads of the messages it gets, and where its full view is. */
import { formatAddress, parseAddress } from './address.js';
import { ALL } from '../trace/schema.js';
import { parseCellKey } from '../trace/trace.js';

/** @typedef {{step?: number, stage?: string, pin?: {space: string, at: number[]} | null}} Wish */

/**
 * What a `goto` asks for, or why it cannot be obeyed.
 * @param {Record<string, unknown>} message
 * @param {import('../trace/schema.js').Schema} schema
 * @returns {Wish | string}
 */
export function readWish({ step, stage, pin }, schema) {
  /** @type {Wish} */
  const wish = {};
  if (step !== undefined) {
    if (!Number.isInteger(step)) return 'step is no whole number';
    wish.step = Number(step);
  }
  if (stage !== undefined) {
    if (typeof stage !== 'string' || !schema.isView(stage))
      return `stage is none of ${[...schema.stageNames, ALL].join(', ')}`;
    wish.stage = stage;
  }
  if (pin !== undefined) {
    const cell = typeof pin === 'string' ? parseCellKey(pin) : null;
    if (pin !== null && cell === null) return 'pin is no cell, such as slot_mappings.0.3';
    wish.pin = cell;
  }
  return wish;
}

/** The same place as a page of its own. @param {string} address */
export function fullAddress(address) {
  return formatAddress({ ...parseAddress(address), view: null, steps: null });
}
