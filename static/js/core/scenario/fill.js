// @ts-check
/**
 * Cells of the schedule filled in as a scheduler would: chunks of a prompt within the budget, then one token a step. Pure
 * functions from one draft to the next; they walk the draft and so know what each request has computed.
 */
import { detailOf, setDetail } from './edits.js';
import { setEntry } from './entry.js';
import { DEFAULTS, MOST_STEPS } from './limits.js';
import { Walker, numGiven, walkOf } from './walk.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {import('./edits.js').ScenarioStep} ScenarioStep */
/** @typedef {import('./walk.js').State} State */
/**
 * @typedef {object} Filling
 * @property {number} from  first step to fill
 * @property {number} [to]  last step to fill, if not the last one
 * @property {number} [chunk]  tokens of a prompt in one step; as many as fit if not given
 * @property {number} [decodes]  tokens behind the prompt; up to the last step if not given
 * @property {boolean} [isAdding]  steps are added until the prompt and the `decodes` tokens are through
 */

/**
 * How many tokens of its prompt a request that joins can run in a step: all, or what the step's budget leaves; none in a
 * step that is yet to be added.
 * @param {Scenario} draft
 * @param {number} step
 * @param {number} promptLen
 * @param {{max_num_batched_tokens?: number, max_num_reqs?: number}} limits
 */
export function roomFor(draft, step, promptLen, limits) {
  const { max_num_batched_tokens: budget, max_num_reqs: rows } = { ...DEFAULTS, ...limits };
  if (!draft.steps[step]) return 0;
  const walk = walkOf(draft);
  const live = draft.requests.filter((_, row) => walk.where(step, row) === 'live').length;
  if (live >= rows) return 0;
  const taken = (draft.steps[step]?.num_scheduled_tokens ?? []).reduce((sum, [, count]) => sum + (Number(count) || 0), 0);
  return Math.max(0, Math.min(promptLen, budget - taken));
}

/**
 * A request runs from a step on: its prompt in chunks, then one token a step, with the drafts that are there already. It
 * stops where the request is marked to finish or to be preempted.
 * @param {Scenario} draft @param {string} reqId @param {Filling} filling @returns {Scenario}
 */
export function runRequest(
  draft,
  reqId,
  { from, to = MOST_STEPS - 1, chunk = Infinity, decodes = Infinity, isAdding = false },
) {
  if (!draft.requests.some(({ req_id }) => req_id === reqId)) return draft;
  const walker = new Walker(draft);
  let next = draft;
  let left = isAdding && decodes === Infinity ? 0 : decodes;
  for (let index = 0; index <= to; index += 1) {
    if (index >= next.steps.length) {
      const { computed, prefill } = /** @type {State} */ (walker.states.get(reqId));
      if (!isAdding || index >= MOST_STEPS || index < from || (computed >= prefill && left <= 0)) break;
      next = { ...next, steps: [...next.steps, { num_scheduled_tokens: [] }] };
    }
    if (index >= from) {
      const gone = walker.leave(next.steps[index]);
      const before = walker.admission(next.steps[index], reqId);
      const isDecode = before.computed >= before.prefill;
      if (gone.has(reqId) || walker.states.get(reqId)?.where === 'finished' || (isDecode && left <= 0)) break;
      const count = fitting(next, index, reqId, before, walker, chunk);
      if (count === 0 && isAdding && index >= draft.steps.length) return draft; // it never gets room: rather nothing than steps without end
      next = setEntry(next, index, reqId, count || null);
      if (count > 0) next = withDraftsThatFit(next, index, reqId, before, count);
      if (isDecode && count > 0) left -= 1;
    }
    walker.advance(next.steps[index]);
  }
  return next;
}

/**
 * Several requests, one after the other.
 * @param {Scenario} draft
 * @param {string[]} reqIds
 * @param {Filling} filling
 * @returns {Scenario}
 */
export function runRequests(draft, reqIds, filling) {
  return reqIds.reduce((next, reqId) => runRequest(next, reqId, filling), draft);
}

/**
 * How many tokens of a request a step can run.
 * @param {Scenario} draft
 * @param {number} index
 * @param {string} reqId
 * @param {State} before
 * @param {Walker} walker
 * @param {number} chunk
 */
function fitting(draft, index, reqId, before, walker, chunk) {
  const step = draft.steps[index];
  const { max_num_reqs: rows, max_model_len: longest } = { ...DEFAULTS, ...draft.config };
  const live = new Set([...walker.states].filter(([, { where }]) => where === 'live').map(([name]) => name));
  for (const [name] of step.num_scheduled_tokens ?? []) live.add(name);
  live.delete(reqId);
  const room = Math.min(budgetLeft(draft, index, reqId), longest - 1 - before.computed);
  if (live.size >= rows || room <= 0) return 0;
  const drafts = numGiven(detailOf(step, 'draft_token_ids', reqId));
  const remaining = before.prefill - before.computed;
  const whole = remaining > 0 ? remaining : 1;
  if (whole > chunk) return Math.min(chunk, room);
  return whole + drafts <= room ? whole + drafts : Math.min(whole, room);
}

/**
 * Drafts are part of what runs: where they found no room, or the chunk ends too early for them, they go.
 * @param {Scenario} draft
 * @param {number} index
 * @param {string} reqId
 * @param {State} before
 * @param {number} count
 * @returns {Scenario}
 */
function withDraftsThatFit(draft, index, reqId, { prefill, computed }, count) {
  const drafts = numGiven(detailOf(draft.steps[index], 'draft_token_ids', reqId));
  const whole = Math.max(1, prefill - computed);
  if (count === whole + drafts) return draft;
  return ['draft_token_ids', 'sampled_token_ids'].reduce(
    (next, field) => setDetail(next, index, reqId, field, undefined),
    draft,
  );
}

/**
 * Tokens that a step may still run, not counting those of a request.
 * @param {Scenario} draft
 * @param {number} index
 * @param {string} [reqId]
 */
function budgetLeft(draft, index, reqId) {
  const { max_num_batched_tokens: budget } = { ...DEFAULTS, ...draft.config };
  return (draft.steps[index]?.num_scheduled_tokens ?? []).reduce(
    (left, [name, count]) => (name === reqId ? left : left - (Number(count) || 0)),
    budget,
  );
}

/**
 * One token in every step for each request that is in the pool with its prompt computed and not scheduled there.
 * @param {Scenario} draft @param {{from: number, to?: number}} where @returns {Scenario}
 */
export function decodeAll(draft, { from, to = draft.steps.length - 1 }) {
  const walker = new Walker(draft);
  const { max_model_len: longest } = { ...DEFAULTS, ...draft.config };
  const steps = draft.steps.map((step, index) => {
    if (index > to) return step;
    const gone = walker.leave(step);
    /** @type {ScenarioStep} */
    let next = step;
    if (index >= from) {
      const scheduled = new Set((step.num_scheduled_tokens ?? []).map(([name]) => name));
      const idle = [...walker.states].filter(
        ([name, { where, computed, prefill }]) =>
          where === 'live' && !gone.has(name) && !scheduled.has(name) && computed >= prefill && computed + 1 <= longest - 1,
      );
      const added = idle
        .slice(0, Math.max(0, budgetLeft(draft, index)))
        .map(([name]) => /** @type {[string, any]} */ ([name, 1]));
      if (added.length > 0) next = { ...step, num_scheduled_tokens: [...(step.num_scheduled_tokens ?? []), ...added] };
    }
    walker.advance(next);
    return next;
  });
  return { ...draft, steps };
}
