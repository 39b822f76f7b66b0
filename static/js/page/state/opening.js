// @ts-check
/** Another scenario, made ready beside the one that is open: what is open stays until this is there. */
import { Problem, Unreachable } from '../api.js';
import * as edits from '../../core/scenario/edits.js';
import { entryFaults } from '../../core/scenario/entry.js';
import { Trace } from './traces.js';

/** @typedef {import('../../ui/view.js').Fault} Fault */
/** @typedef {import('./workbench.js').Workbench} Workbench */
/** @typedef {import('../../ui/view.js').Notice} Notice */
/** @typedef {{step?: number | null, stage?: string | null, pin?: string | null}} Place */
/**
 * @typedef {object} Found
 * @property {any} scenario
 * @property {import('./workbench.js').Origin} origin
 * @property {Place} [place]
 * @property {Notice[]} [notices]
 */
/**
 * @typedef {object} Opening
 * @property {() => Found | Promise<Found>} find
 * @property {() => void} [arrived]  called when it takes the place of what was open
 */
/**
 * @typedef {object} Ready
 * @property {edits.Scenario} scenario
 * @property {Found} found
 * @property {Trace} trace
 * @property {number} step
 * @property {Fault[]} faults  why it cannot be run
 * @property {Unreachable | null} failure  why it was not run, where nothing else is open
 */

/**
 * Throws what `find` and the API throw, except for a scenario that cannot be run, and for the first one without a server: a
 * schedule without a board is better than nothing, but not than what was open.
 * @param {Workbench} bench @param {Opening} opening @returns {Promise<Ready>}
 */
export async function prepare(bench, opening) {
  const found = await opening.find();
  const scenario = edits.toDraft(found.scenario);
  const trace = new Trace(bench.api, bench.schema, scenario);
  const step = found.place?.step ?? scenario.start_step ?? 0;
  /** @type {Ready} */
  const ready = { scenario, found, trace, step, faults: wrongEntries(scenario, bench.t), failure: null };
  if (ready.faults.length > 0) return ready;
  try {
    await trace.load(bench.course.clip(step, trace));
    return ready;
  } catch (error) {
    if (error instanceof Problem) return { ...ready, faults: error.reasons };
    if (error instanceof Unreachable && !bench.opened) return { ...ready, failure: error };
    throw error;
  }
}

/**
 * What is typed and no entry at all, which nobody needs to ask the server about.
 * @param {edits.Scenario} draft
 * @param {import('../../core/i18n.js').Translate} t
 * @returns {Fault[]}
 */
export function wrongEntries(draft, t) {
  return entryFaults(draft).map(({ key, ...fault }) => ({ ...fault, message: t(key, fault.params) }));
}
