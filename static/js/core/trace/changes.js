// @ts-check
/**
 * What a step changed in the buffers that live longer than a step.
 */
import { isNull } from './trace.js';

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {import('./trace.js').Value} Value */

/** Only these keep their rows from one step to the next; a batch row is somebody else in every step. */
const LASTING = 'req_state_idx';
/** What the update writes back to the pool row of a batch row. */
const AFTER = '_after';

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
  if (space?.numbers && name.endsWith(AFTER)) return beforeUpdate(step, space, at);
  const old = prev?.space(name);
  if (!space || !old || !space.numbers || !space.dims.includes(LASTING)) return undefined;
  const now = space.get(at);
  const then = old.get(at);
  if (now === then || (isNull(now) && isNull(then))) return undefined;
  return then;
}

/**
 * What a batch row's pool row held before the update: `num_computed_tokens` for `num_computed_tokens_after`.
 * @param {Step} step
 * @param {import('./trace.js').Space} space
 * @param {number[]} at
 * @returns {Value | undefined}
 */
function beforeUpdate(step, space, at) {
  const row = step.space('idx_mapping')?.get(at) ?? NaN;
  const then = isNull(row) ? NaN : (step.space(space.name.slice(0, -AFTER.length))?.get([Number(row)]) ?? NaN);
  return isNull(then) || then === space.get(at) ? undefined : then;
}
