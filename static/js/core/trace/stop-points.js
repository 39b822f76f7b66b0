// @ts-check
/**
 * The stop points of a talk: where a presenter remote stops, one press after the other.
 *
 * Every stage of every step is one, in the order of the board; a step that runs nothing has no batch and is one stop by
 * itself, and so is the step at which a schedule stops because the pool ran out. `all` is no stop: it stands where its step
 * begins.
 *
 * In: the names of the stages, the summary of the steps, which covers all of them. Out: which stop a place is, and the ones
 * beside it.
 */
import { ALL } from './schema.js';

/** @typedef {{step: number, stage: string}} Place */
/** @typedef {{first: number, last: number}} Range  of steps, both inclusive */

/**
 * @param {readonly string[]} stages
 * @param {Record<string, any> | undefined} step  of the summary; the step that could not be run has none
 * @returns {readonly string[]}
 */
function stagesOf(stages, step) {
  return step && step.num_tokens > 0 ? stages : stages.slice(0, 1);
}

/**
 * @param {readonly string[]} stages
 * @param {Record<string, any>[]} summary
 * @param {Range} range
 * @param {Place} place
 * @returns {{number: number, of: number}} counted from 1; a stage that its step does not stop at counts as its last stop
 */
export function stopAt(stages, summary, { first, last }, { step, stage }) {
  let of = 0;
  let number = 1;
  for (let index = first; index <= last; index += 1) {
    const stops = stagesOf(stages, summary[index]);
    if (index === step) number = of + 1 + placeIn(stops, stage);
    of += stops.length;
  }
  return { number: Math.min(number, Math.max(1, of)), of };
}

/**
 * The next stop point or the one before; null where there is none.
 * @param {readonly string[]} stages
 * @param {Record<string, any>[]} summary
 * @param {Range} range
 * @param {Place} from
 * @param {1 | -1} by
 * @returns {Place | null}
 */
export function besideStop(stages, summary, { first, last }, { step, stage }, by) {
  const here = stagesOf(stages, summary[step]);
  const place = placeIn(here, stage) + by;
  if (place >= 0 && place < here.length) return { step, stage: here[place] };
  const next = step + by;
  if (next < first || next > last) return null;
  const there = stagesOf(stages, summary[next]);
  return { step: next, stage: by > 0 ? there[0] : there[there.length - 1] };
}

/** @param {readonly string[]} stops @param {string} stage */
function placeIn(stops, stage) {
  if (stage === ALL) return 0;
  const place = stops.indexOf(stage);
  return place < 0 ? stops.length - 1 : place;
}
