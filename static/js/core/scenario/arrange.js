// @ts-check
/**
 * Requests and steps put in another order, copied, inserted, renamed: everything that a step says of a request goes
 * with its name, everything in a step with the step.
 */
import { BY_REQUEST, LISTS, detailOf, freeName, withStep } from './edits.js';
import { MOST_NAME, MOST_REQUESTS, MOST_STEPS } from './limits.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {import('./edits.js').ScenarioStep} ScenarioStep */

/**
 * Why a request cannot have a name: it is another's, it is none, it is too long. '' where it can.
 * @param {Scenario} draft @param {number} row @param {string} name
 * @returns {'' | 'taken' | 'empty' | 'long'}
 */
export function nameFault(draft, row, name) {
  if (name === '') return 'empty';
  if ([...name].length > MOST_NAME) return 'long';
  return draft.requests.some(({ req_id }, other) => other !== row && req_id === name) ? 'taken' : '';
}

/**
 * @param {Scenario} draft
 * @param {number} row
 * @param {string} name
 * @returns {Scenario} the same draft where the name cannot be
 */
export function renameRequest(draft, row, name) {
  const old = draft.requests[row]?.req_id;
  if (old === undefined || old === name || nameFault(draft, row, name)) return draft;
  const called = (/** @type {string} */ one) => (one === old ? name : one);
  const steps = draft.steps.map((step) => {
    /** @type {ScenarioStep} */
    const next = {
      ...step,
      num_scheduled_tokens: (step.num_scheduled_tokens ?? []).map(([one, count]) => [called(one), count]),
    };
    for (const key of BY_REQUEST)
      if (step[key]) next[key] = Object.fromEntries(Object.entries(step[key]).map(([one, value]) => [called(one), value]));
    for (const key of LISTS) if (step[key]) next[key] = step[key].map(called);
    return next;
  });
  return {
    ...draft,
    requests: draft.requests.map((request, place) => (place === row ? { ...request, req_id: name } : request)),
    steps,
  };
}

/** @param {Scenario} draft @param {number} row @param {number} by @returns {Scenario} */
export function moveRequest(draft, row, by) {
  return { ...draft, requests: moved(draft.requests, row, by) };
}

/**
 * A copy below it, scheduled and marked like it. Its blocks are its own: they come from the pool.
 * @param {Scenario} draft @param {number} row @returns {Scenario}
 */
export function duplicateRequest(draft, row) {
  const original = draft.requests[row];
  if (!original || draft.requests.length >= MOST_REQUESTS) return draft;
  const [name, old] = [freeName(draft), original.req_id];
  /** @type {import('./edits.js').ScenarioRequest} */
  const copy = { ...original, req_id: name };
  if (original.initial) {
    const { block_ids: _blocks, req_state_idx: _row, ...initial } = original.initial;
    copy.initial = initial;
  }
  const steps = draft.steps.map((step) => {
    const pairs = step.num_scheduled_tokens ?? [];
    const count = pairs.find(([one]) => one === old);
    /** @type {ScenarioStep} */
    const next = { ...step, num_scheduled_tokens: count ? [...pairs, [name, count[1]]] : pairs };
    for (const key of BY_REQUEST)
      if (key !== 'new_block_ids' && detailOf(step, key, old) !== undefined)
        next[key] = { ...step[key], [name]: step[key][old] };
    for (const key of LISTS) if (step[key]?.includes(old)) next[key] = [...step[key], name];
    return next;
  });
  return { ...draft, requests: [...draft.requests.slice(0, row + 1), copy, ...draft.requests.slice(row + 1)], steps };
}

/** A step that schedules nothing yet, before step `at`. @param {Scenario} draft @param {number} at @returns {Scenario} */
export function insertStep(draft, at) {
  return withNewStep(draft, at, { num_scheduled_tokens: [] });
}

/**
 * The same once more behind a step: its counts and drafts. Who finished, was preempted or came with a hit does not do
 * so again, and blocks come from the pool.
 * @param {Scenario} draft @param {number} step @returns {Scenario}
 */
export function duplicateStep(draft, step) {
  const {
    finished_req_ids: _f,
    preempted_req_ids: _p,
    num_computed_tokens: _h,
    new_block_ids: _b,
    ...copy
  } = draft.steps[step] ?? {};
  return draft.steps[step] ? withNewStep(draft, step + 1, copy) : draft;
}

/** @param {Scenario} draft @param {number} at @param {ScenarioStep} step @returns {Scenario} */
function withNewStep(draft, at, step) {
  if (draft.steps.length >= MOST_STEPS) return draft;
  const steps = [...draft.steps.slice(0, at), step, ...draft.steps.slice(at)];
  const start = draft.start_step ?? 0;
  return starting({ ...draft, steps }, draft.steps.length > 0 && start >= at ? start + 1 : start);
}

/** @param {Scenario} draft @param {number} step @param {number} by @returns {Scenario} */
export function moveStep(draft, step, by) {
  const steps = moved(draft.steps, step, by);
  const start = steps.indexOf(draft.steps[draft.start_step ?? 0]);
  return starting({ ...draft, steps }, Math.max(0, start));
}

/** The step shown first. @param {Scenario} draft @param {number} step @returns {Scenario} */
export function starting(draft, step) {
  const { start_step: _old, ...rest } = draft;
  return step > 0 ? { ...rest, start_step: step } : rest;
}

/**
 * Earlier or later in the order of a step, which decides ties in the batch and who gets the next row and blocks.
 * @param {Scenario} draft
 * @param {number} step
 * @param {string} reqId
 * @param {number} by
 * @returns {Scenario}
 */
export function moveInOrder(draft, step, reqId, by) {
  return withStep(draft, step, (old) => {
    const pairs = old.num_scheduled_tokens ?? [];
    return {
      ...old,
      num_scheduled_tokens: moved(
        pairs,
        pairs.findIndex(([name]) => name === reqId),
        by,
      ),
    };
  });
}

/**
 * Whether a step's own order is that of the rows, as far as it schedules any.
 * @param {Scenario} draft
 * @param {number} step
 */
export function isOrderedAsRows(draft, step) {
  const said = draft.steps[step];
  if (!said) return true;
  let known = ordersKnown.get(said);
  if (known?.requests !== draft.requests) {
    const isOrdered = placesInOrder(draft, step).every((place, at, places) => at === 0 || places[at - 1] < place);
    ordersKnown.set(said, (known = { requests: draft.requests, isOrdered }));
  }
  return known.isOrdered;
}

/** Asked for each cell. @type {WeakMap<ScenarioStep, {requests: object, isOrdered: boolean}>} */
const ordersKnown = new WeakMap();

/**
 * What a step schedules, in the order of the rows.
 * @param {Scenario} draft
 * @param {number} step
 * @returns {Scenario}
 */
export function orderAsRows(draft, step) {
  if (isOrderedAsRows(draft, step)) return draft;
  const places = placesInOrder(draft, step);
  return withStep(draft, step, (old) => {
    const pairs = old.num_scheduled_tokens ?? [];
    const order = [...pairs.keys()].sort((a, b) => places[a] - places[b] || a - b);
    return { ...old, num_scheduled_tokens: order.map((place) => pairs[place]) };
  });
}

/**
 * The rows that a step schedules, in its own order; what no row is called comes last.
 * @param {Scenario} draft
 * @param {number} step
 */
function placesInOrder(draft, step) {
  const rows = rowsOf(draft.requests);
  return (draft.steps[step]?.num_scheduled_tokens ?? []).map(([name]) => rows.get(name) ?? Infinity);
}

/** Which row each request is in: made once for a list of them. @type {WeakMap<object, Map<string, number>>} */
const rowsKnown = new WeakMap();

/** @param {Scenario['requests']} requests */
export function rowsOf(requests) {
  let rows = rowsKnown.get(requests);
  if (!rows) rowsKnown.set(requests, (rows = new Map(requests.map(({ req_id }, row) => [req_id, row]))));
  return rows;
}

/** @template T @param {T[]} list @param {number} from @param {number} by @returns {T[]} */
function moved(list, from, by) {
  const to = from + by;
  if (from < 0 || from >= list.length || to < 0 || to >= list.length) return list;
  const next = list.filter((_, place) => place !== from);
  next.splice(to, 0, list[from]);
  return next;
}
