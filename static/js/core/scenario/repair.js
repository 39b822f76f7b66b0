// @ts-check
/**
 * Repairs that the server suggests. A repair is a patch of the scenario that was refused: it names things by their place in
 * that one. Where the draft has gone on since, it is one only as long as all that it reaches into is as it was.
 */
import { applyPatch, pointerKeys } from './edits.js';
import { isSame } from './same.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/**
 * @typedef {{fix?: import('./edits.js').PatchOperation[] | null, of?: Scenario}} Faulty  of: the scenario that was refused;
 *   without it, the draft itself
 */

/**
 * Whether a repair can be applied to a draft: there is one, and what it changes is what was refused.
 * @param {Scenario} draft
 * @param {Faulty} fault
 */
export function isRepairOf(draft, { fix, of = draft }) {
  if (!fix || fix.length === 0) return false;
  return fix.every(({ path }) => isSame(partAt(of, path), partAt(draft, path)));
}

/**
 * The draft with what was wrong repaired; the same draft where any of it is about something else by now.
 * @param {Scenario} draft
 * @param {Faulty[]} faults
 * @returns {Scenario}
 */
export function repaired(draft, faults) {
  if (!faults.every((fault) => isRepairOf(draft, fault))) return draft;
  return applyPatch(
    draft,
    faults.flatMap(({ fix }) => fix ?? []),
  );
}

/**
 * The part of a scenario that a path leads into: a step, a request, or a field of the scenario as a whole.
 * @param {any} scenario
 * @param {string} path
 */
function partAt(scenario, path) {
  const [first, second] = pointerKeys(path);
  const part = scenario[first];
  return Array.isArray(part) && second !== undefined ? part[Number(second)] : part;
}
