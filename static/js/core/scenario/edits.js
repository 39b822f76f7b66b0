// @ts-check
/**
 * Changes to a scenario: pure functions from one draft to the next.
 *
 * A draft keeps `num_scheduled_tokens` as [req_id, count] pairs, because their order matters and objects in
 * JavaScript reorder keys that look like numbers.
 */

/** @typedef {[string, any][]} Pairs */
/** @typedef {{num_scheduled_tokens?: Pairs, [key: string]: any}} ScenarioStep */
/** @typedef {{req_id: string, prompt_len?: number, [key: string]: any}} ScenarioRequest */
/**
 * @typedef {{version: number, title?: string, requests: ScenarioRequest[], steps: ScenarioStep[], [key: string]: any}}
 *   Scenario
 */
/** @typedef {{op: string, path: string, value?: any, from?: string}} PatchOperation */

/**
 * @param {any} scenario as written by hand or by the server
 * @returns {Scenario}
 */
export function toDraft(scenario) {
  return {
    ...scenario,
    requests: scenario.requests ?? [],
    steps: (scenario.steps ?? []).map((/** @type {any} */ step) => {
      const counts = step.num_scheduled_tokens ?? [];
      return { ...step, num_scheduled_tokens: Array.isArray(counts) ? counts : Object.entries(counts) };
    }),
  };
}

/** @type {WeakMap<ScenarioStep, {counts: Map<string, any>, places: Map<string, number>}>} */
const counted = new WeakMap();

/** What a step schedules by name, and which pair says so: made once for a step. @param {ScenarioStep} step */
export function countsOf(step) {
  let found = counted.get(step);
  if (!found) {
    found = { counts: new Map(), places: new Map() };
    for (const [place, [name, count]] of (step.num_scheduled_tokens ?? []).entries()) {
      if (found.places.has(name)) continue;
      found.counts.set(name, count);
      found.places.set(name, place);
    }
    counted.set(step, found);
  }
  return found;
}

/**
 * @param {Scenario} draft
 * @param {number} step
 * @param {string} reqId
 * @returns {any} what the cell holds, undefined if nothing
 */
export function scheduled(draft, step, reqId) {
  return draft.steps[step] && countsOf(draft.steps[step]).counts.get(reqId);
}

/**
 * @param {Scenario} draft
 * @param {number} step
 * @param {string} reqId
 * @param {any} count null takes the request out of the step
 * @returns {Scenario}
 */
export function setScheduled(draft, step, reqId, count) {
  return withStep(draft, step, (old) => {
    const pairs = old.num_scheduled_tokens ?? [];
    const place = pairs.findIndex(([name]) => name === reqId);
    /** @type {Pairs} */
    let next;
    if (count === null) next = pairs.filter(([name]) => name !== reqId);
    else if (place < 0) next = [...pairs, [reqId, count]];
    else next = pairs.map((pair, index) => (index === place ? [reqId, count] : pair));
    return { ...old, num_scheduled_tokens: next };
  });
}

/** @param {Scenario} draft @param {number} request @param {any} promptLen @returns {Scenario} */
export function setPromptLen(draft, request, promptLen) {
  const requests = draft.requests.map((old, index) => {
    if (index !== request) return old;
    const { prompt_token_ids: _given, ...rest } = old;
    return { ...rest, prompt_len: promptLen };
  });
  return { ...draft, requests };
}

/** @param {Scenario} draft @returns {Scenario} with a step at the end that schedules nothing yet */
export function addStep(draft) {
  return { ...draft, steps: [...draft.steps, { num_scheduled_tokens: [] }] };
}

/** @param {Scenario} draft @param {number} step @returns {Scenario} */
export function removeStep(draft, step) {
  const steps = draft.steps.filter((_, index) => index !== step);
  const { start_step: start = 0, ...rest } = draft;
  const kept = Math.min(start > step ? start - 1 : start, Math.max(0, steps.length - 1));
  return kept > 0 ? { ...rest, start_step: kept, steps } : { ...rest, steps };
}

/** Tokens in the prompt of a request that is added. */
export const NEW_PROMPT = 16;

/**
 * @param {Scenario} draft
 * @param {{step?: number, count?: number}} start how many of its tokens run at once, and in which step
 * @returns {Scenario} with a request named by the next free letter
 */
export function addRequest(draft, { step = 0, count = 0 } = {}) {
  const name = freeName(draft);
  const steps = draft.steps.length > 0 ? draft.steps : [{ num_scheduled_tokens: [] }];
  const added = { ...draft, requests: [...draft.requests, { req_id: name, prompt_len: NEW_PROMPT }], steps };
  return count > 0 ? setScheduled(added, step, name, count) : added;
}

/** @param {Scenario} draft @returns {string} the next letter that no request is called, then letters with a number */
export function freeName(draft) {
  const taken = new Set(draft.requests.map(({ req_id }) => req_id));
  let number = 0;
  const name = () => String.fromCharCode(65 + (number % 26)) + (number < 26 ? '' : String(Math.floor(number / 26)));
  while (taken.has(name())) number += 1;
  return name();
}

/** What a step says about a request, besides how many tokens it runs. */
export const BY_REQUEST = ['num_computed_tokens', 'new_block_ids', 'draft_token_ids', 'sampled_token_ids'];
export const LISTS = ['finished_req_ids', 'preempted_req_ids'];

/** @param {Scenario} draft @param {string} reqId @returns {Scenario} without the request and all that steps say about it */
export function removeRequest(draft, reqId) {
  const steps = draft.steps.map((old) => {
    /** @type {ScenarioStep} */
    const step = { ...old, num_scheduled_tokens: (old.num_scheduled_tokens ?? []).filter(([name]) => name !== reqId) };
    for (const key of BY_REQUEST) {
      const entries = step[key];
      if (Array.isArray(entries)) step[key] = entries.filter(([name]) => name !== reqId);
      else if (entries) step[key] = Object.fromEntries(Object.entries(entries).filter(([name]) => name !== reqId));
    }
    for (const key of LISTS) if (step[key]) step[key] = step[key].filter((/** @type {string} */ name) => name !== reqId);
    return step;
  });
  return { ...draft, requests: draft.requests.filter(({ req_id }) => req_id !== reqId), steps };
}

/**
 * @param {ScenarioStep | undefined} step
 * @param {string} field one of BY_REQUEST
 * @param {string} reqId
 * @returns {any} undefined where nothing is said
 */
export function detailOf(step, field, reqId) {
  const said = step?.[field];
  return said && Object.hasOwn(said, reqId) ? said[reqId] : undefined;
}

/**
 * Says something else about the tokens of a request in a step.
 * @param {Scenario} draft @param {number} step @param {string} reqId
 * @param {string} field one of BY_REQUEST
 * @param {any} value undefined: nothing
 * @returns {Scenario}
 */
export function setDetail(draft, step, reqId, field, value) {
  return withStep(draft, step, (old) => {
    const { [field]: said, ...rest } = old;
    const others = (Array.isArray(said) ? said : Object.entries(said ?? {})).filter(([name]) => name !== reqId);
    if (value !== undefined) others.push([reqId, value]);
    return others.length > 0 ? { ...rest, [field]: Object.fromEntries(others) } : rest;
  });
}

/**
 * @param {Scenario} draft
 * @param {number} step
 * @param {string} reqId
 * @returns {Scenario} without anything said of the request's tokens in a step
 */
export function dropDetails(draft, step, reqId) {
  return BY_REQUEST.reduce(
    (next, field) =>
      detailOf(next.steps[step], field, reqId) === undefined ? next : setDetail(next, step, reqId, field, undefined),
    draft,
  );
}

/** @param {Scenario} draft @param {'title' | 'description'} field @param {string} text @returns {Scenario} */
export function setText(draft, field, text) {
  const { [field]: _old, ...rest } = draft;
  return /** @type {Scenario} */ (text === '' ? rest : { ...rest, [field]: text });
}

/** @param {Scenario} draft @param {number} step @param {(old: ScenarioStep) => ScenarioStep} change @returns {Scenario} */
export function withStep(draft, step, change) {
  return { ...draft, steps: draft.steps.map((old, index) => (index === step ? change(old) : old)) };
}

/**
 * A repair suggested by the server: RFC 6902, the operations add, remove and replace.
 * @param {Scenario} draft
 * @param {PatchOperation[]} patch
 * @returns {Scenario}
 */
export function applyPatch(draft, patch) {
  const next = structuredClone(draft);
  for (const { op, path, value } of patch) {
    const keys = pointerKeys(path);
    const last = keys.pop();
    if (last === undefined) throw new Error(`cannot ${op} the whole scenario`);
    /** @type {any} */
    let parent = next;
    for (const key of keys) parent = parent[key];
    if (Array.isArray(parent)) {
      const place = last === '-' ? parent.length : Number(last);
      if (op === 'remove') parent.splice(place, 1);
      else parent.splice(place, op === 'add' ? 0 : 1, value);
    } else if (op === 'remove') delete parent[last];
    else parent[last] = value;
  }
  return toDraft(next);
}

/** @param {string} pointer RFC 6901 @returns {string[]} */
export function pointerKeys(pointer) {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'));
}

/**
 * Where on the schedule grid a fault belongs.
 * @param {Scenario} draft
 * @param {{where: string, params?: Record<string, any>, of?: Scenario}} fault  of: the scenario that it was found in, where
 *   the draft has gone on since
 * @returns {{step: number | null, reqId: string | null}}
 */
export function placeOf(draft, fault) {
  const { steps, requests } = fault.of ?? draft;
  const keys = pointerKeys(fault.where ?? '');
  let step = typeof fault.params?.step === 'number' ? fault.params.step : null;
  let reqId = typeof fault.params?.req_id === 'string' ? fault.params.req_id : null;
  if (keys[0] === 'steps' && keys[1] !== undefined) {
    step = Number(keys[1]);
    if (keys[2] === 'num_scheduled_tokens' && keys[3] !== undefined) {
      reqId = steps[step]?.num_scheduled_tokens?.[Number(keys[3])]?.[0] ?? reqId;
    } else if (BY_REQUEST.includes(keys[2]) && keys[3] !== undefined) reqId = keys[3];
  } else if (keys[0] === 'requests' && keys[1] !== undefined) {
    reqId = requests[Number(keys[1])]?.req_id ?? reqId;
  }
  return { step, reqId };
}
