// @ts-check
/**
 * The stop points of a talk: where a presenter remote stops, one press after the other.
 *
 * Every stage of every step is one, in the order of the board; a step that runs nothing has no batch and is one stop by
 * itself, and so is the step at which a schedule stops because the pool ran out. `all` is no stop: it stands where its step
 * begins.
 *
 * In: the summary of the steps, which covers all of them. Out: which stop a place is, and the ones beside it.
 */
import { STAGES } from './schema.js';

/** @typedef {{step: number, stage: string}} Place */
/** @typedef {{first: number, last: number}} Range  of steps, both inclusive */

/**
 * @param {Record<string, any> | undefined} step  of the summary; the step that could not be run has none
 * @returns {readonly string[]}
 */
function stagesOf(step) {
  return step && step.num_tokens > 0 ? STAGES : STAGES.slice(0, 1);
}

/**
 * @param {Record<string, any>[]} summary
 * @param {Range} range
 * @param {Place} place
 * @returns {{number: number, of: number}} counted from 1; a stage that its step does not stop at counts as its last stop
 */
export function stopAt(summary, { first, last }, { step, stage }) {
  let of = 0;
  let number = 1;
  for (let index = first; index <= last; index += 1) {
    const stages = stagesOf(summary[index]);
    if (index === step) number = of + 1 + placeIn(stages, stage);
    of += stages.length;
  }
  return { number: Math.min(number, Math.max(1, of)), of };
}

/**
 * The next stop point or the one before; null where there is none.
 * @param {Record<string, any>[]} summary
 * @param {Range} range
 * @param {Place} from
 * @param {1 | -1} by
 * @returns {Place | null}
 */
export function besideStop(summary, { first, last }, { step, stage }, by) {
  const here = stagesOf(summary[step]);
  const place = placeIn(here, stage) + by;
  if (place >= 0 && place < here.length) return { step, stage: here[place] };
  const next = step + by;
  if (next < first || next > last) return null;
  const there = stagesOf(summary[next]);
  return { step: next, stage: by > 0 ? there[0] : there[there.length - 1] };
}

/** @param {readonly string[]} stages @param {string} stage */
function placeIn(stages, stage) {
  if (stage === 'all') return 0;
  const place = stages.indexOf(stage);
  return place < 0 ? stages.length - 1 : place;
}
