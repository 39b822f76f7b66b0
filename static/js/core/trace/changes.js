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
 * @param {import('./schema.js').Schema} schema
 * @param {Step} step
 * @param {Step | null} prev
 * @param {string} name
 * @param {number[]} at
 * @returns {Value | undefined}
 */
export function before(schema, step, prev, name, at) {
  const space = step.space(name);
  const written = schema.writtenBack.get(name);
  if (space?.numbers && written) return beforeWritten(step, space, at, written);
  const old = prev?.space(name);
  if (!space || !old || !space.numbers || !space.dims.includes(LASTING)) return undefined;
  const now = space.get(at);
  const then = old.get(at);
  if (now === then || (isNull(now) && isNull(then))) return undefined;
  return then;
}

/**
 * What a batch row's pool row held before this is written back to it: `num_computed_tokens` for `num_computed_tokens_after`.
 * @param {Step} step
 * @param {import('./trace.js').Space} space
 * @param {number[]} at
 * @param {{into: string, through: string}} written
 * @returns {Value | undefined}
 */
function beforeWritten(step, space, at, { into, through }) {
  const row = step.space(through)?.get(at) ?? NaN;
  const then = isNull(row) ? NaN : (step.space(into)?.get([Number(row)]) ?? NaN);
  return isNull(then) || then === space.get(at) ? undefined : then;
}
