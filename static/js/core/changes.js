// @ts-check
/**
 * What a step changed in the buffers that live longer than a step.
 */
import { isNull } from './trace.js';

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {import('./trace.js').Value} Value */

/** Only these keep their rows from one step to the next; a batch row is somebody else in every step. */
const LASTING = 'req_state_idx';

/**
 * The value a cell had in the previous step, undefined where nothing changed or nothing can be said.
 * @param {Step} step
 * @param {Step | null} prev
 * @param {string} name
 * @param {number[]} at
 * @returns {Value | undefined}
 */
export function before(step, prev, name, at) {
  const space = step.space(name);
  const old = prev?.space(name);
  if (!space || !old || !space.dims.includes(LASTING)) return undefined;
  const now = space.get(at);
  const then = old.get(at);
  if (now === then || (isNull(now) && isNull(then))) return undefined;
  return then;
}
