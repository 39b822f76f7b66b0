// @ts-check
/**
 * A draft walked step by step, as the scheduler would: where every request is, what it has computed, what kind of work a
 * cell is. It follows the server's rules without judging: of a draft that cannot be run it is a guess, which the grid
 * shows until the server has answered, and which the fill helpers plan with.
 */
import { countsOf, detailOf } from './edits.js';
import { markOf } from './entry.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {import('./edits.js').ScenarioStep} ScenarioStep */
/** @typedef {import('./edits.js').ScenarioRequest} ScenarioRequest */
/** @typedef {import('./entry.js').Residence} Residence */
/** @typedef {'prefill' | 'prefill_end' | 'decode' | 'decode_drafts'} Kind  as in `summary[].kinds` */
/**
 * @typedef {{where: Residence, computed: number, prefill: number, total: number}} State  `prefill` tokens are known when
 *   it is (re)admitted, `total` with what was sampled since
 */
/**
 * @typedef {{kind: Kind, computed: number, num_drafts: number, isAdmitted: boolean}} Work  what one scheduled request does
 *   in a step, `computed` tokens being there before
 */

/** @param {any} idsOrCount @returns {number} */
export function numGiven(idsOrCount) {
  if (Array.isArray(idsOrCount)) return idsOrCount.length;
  return Number.isInteger(idsOrCount) ? idsOrCount : 0;
}

/** @param {ScenarioRequest} request */
export function promptLength({ prompt_len: length, prompt_token_ids: ids }) {
  return Array.isArray(ids) ? ids.length : Number.isInteger(length) ? Number(length) : 0;
}

export class Walker {
  /** @param {Scenario} draft */
  constructor(draft) {
    /** @type {Map<string, State>} */
    this.states = new Map(draft.requests.map((request) => [request.req_id, enter(request)]));
  }

  /** Requests in the pool. */
  get numLive() {
    let count = 0;
    for (const { where } of this.states.values()) if (where === 'live') count += 1;
    return count;
  }

  /**
   * Those that finish or are preempted leave before the step adds anything.
   * @param {ScenarioStep} step
   * @returns {Set<string>}
   */
  leave(step) {
    const gone = new Set();
    for (const [list, where] of /** @type {[string, Residence][]} */ ([
      ['finished_req_ids', 'finished'],
      ['preempted_req_ids', 'preempted'],
    ])) {
      for (const name of step[list] ?? []) {
        const state = this.states.get(name);
        if (!state) continue;
        gone.add(name);
        state.where = where;
      }
    }
    return gone;
  }

  /**
   * What a request would find if the step scheduled it: as it is, or as it would be admitted.
   * @param {ScenarioStep} step @param {string} name @returns {State & {isAdmitted: boolean}}
   */
  admission(step, name) {
    const state = /** @type {State} */ (this.states.get(name));
    if (state.where === 'live') return { ...state, isAdmitted: false };
    const hit = detailOf(step, 'num_computed_tokens', name);
    return {
      where: 'live',
      prefill: state.total,
      total: state.total,
      computed: Number.isInteger(hit) ? hit : 0,
      isAdmitted: true,
    };
  }

  /** @param {ScenarioStep} step @param {string} name @param {number} count @returns {Work} */
  run(step, name, count) {
    const { isAdmitted, ...state } = this.admission(step, name);
    const drafts = numGiven(detailOf(step, 'draft_token_ids', name));
    const { computed } = state;
    const reached = computed + count;
    const isPrefilling = computed < state.prefill;
    /** @type {Kind} */
    let kind = drafts > 0 ? 'decode_drafts' : 'decode';
    if (isPrefilling) kind = reached - drafts < state.prefill ? 'prefill' : 'prefill_end';
    state.computed = reached;
    if (reached >= state.prefill) {
      const given = detailOf(step, 'sampled_token_ids', name);
      const sampled = given === undefined || given === null ? 1 + drafts : numGiven(given);
      state.computed = reached - (1 + drafts - sampled);
      state.total += sampled;
    }
    this.states.set(name, state);
    return { kind, computed, num_drafts: drafts, isAdmitted };
  }

  /** A whole step. @param {ScenarioStep} step @returns {Map<string, Work>} */
  advance(step) {
    this.leave(step);
    /** @type {Map<string, Work>} */
    const works = new Map();
    for (const [name, count] of step.num_scheduled_tokens ?? []) {
      const state = this.states.get(name);
      if (!state || state.where === 'finished' || works.has(name) || !(Number.isInteger(count) && count > 0)) continue;
      works.set(name, this.run(step, name, count));
    }
    return works;
  }
}

/** @param {ScenarioRequest} request @returns {State} */
function enter(request) {
  const prompt = promptLength(request);
  const { initial } = request;
  const outputs = numGiven(initial?.output_token_ids ?? 0);
  const given = initial?.num_computed_tokens;
  return {
    where: initial ? 'live' : 'waiting',
    prefill: prompt,
    total: prompt + outputs,
    computed: Number.isInteger(given) ? given : outputs > 0 ? prompt + outputs - 1 : 0,
  };
}

/** @type {Residence[]} */
const PLACES = ['waiting', 'live', 'finished', 'preempted'];

/** Where every request is in every step, and what it does there. */
export class Walk {
  /** @param {Scenario} draft */
  constructor(draft) {
    const walker = new Walker(draft);
    this.numRows = draft.requests.length;
    const rows = new Map(draft.requests.map(({ req_id }, row) => [req_id, row]));
    /** [step * numRows + row] index into PLACES */
    this.places = new Uint8Array(draft.steps.length * this.numRows);
    const now = Uint8Array.from(draft.requests, ({ req_id }) =>
      PLACES.indexOf(/** @type {State} */ (walker.states.get(req_id)).where),
    );
    /** @type {Map<string, Work>[]} */
    this.works = draft.steps.map((step, index) => {
      const works = walker.advance(step);
      for (const name of [...works.keys(), ...(step.finished_req_ids ?? []), ...(step.preempted_req_ids ?? [])]) {
        const row = rows.get(name);
        if (row === undefined) continue;
        const mark = markOf(draft, index, name);
        now[row] = mark ? (mark === 'finish' ? 2 : 3) : 1;
      }
      this.places.set(now, index * this.numRows);
      return works;
    });
  }

  /** @param {number} step @param {number} row @returns {Residence} */
  where(step, row) {
    return PLACES[this.places[step * this.numRows + row] ?? 0];
  }

  /** @param {number} step @param {string} name @returns {Work | null} */
  work(step, name) {
    return this.works[step]?.get(name) ?? null;
  }
}

/** @type {WeakMap<Scenario, Walk>} */
const walks = new WeakMap();

/** @param {Scenario} draft @returns {Walk} of a draft, made once */
export function walkOf(draft) {
  let walk = walks.get(draft);
  if (!walk) walks.set(draft, (walk = new Walk(draft)));
  return walk;
}

/**
 * What kinds the server says a step's requests are.
 * @param {Record<string, any>} summary of the step
 * @param {ScenarioStep} step
 * @param {string} name
 * @returns {Kind | null}
 */
export function kindSaid(summary, step, name) {
  const place = countsOf(step).places.get(name);
  return place === undefined ? null : (summary?.kinds?.[place] ?? null);
}
