// @ts-check
/**
 * What a number or a name means: the cells it stands for, best first, each named with its index space.
 *
 * In: the text of the find box, the step on screen, other steps of the trace. Out: hits. What the step on screen does
 * not have is looked for in the others, nearest first. One pass over each tensor per question, nothing is kept.
 */
import { HELD, RUNNING } from './step.js';
import { parseQuery } from './query.js';

/** @typedef {import('./query.js').Kind} Kind */
/** @typedef {import('./query.js').Query} Query */
/** @typedef {import('../trace/trace.js').Step} Step */
/**
 * One meaning. `says` is a message key below `find.says`, `params` fill it in; `cell` is null where there is nothing to pin.
 * @typedef {object} Hit
 * @property {Kind | 'cell' | 'term'} kind
 * @property {string} number  what is named: the number, the request, the cell
 * @property {string} says
 * @property {Record<string, string>} params
 * @property {{space: string, at: number[]} | null} cell
 * @property {number} step
 * @property {string | null} request  whose it is
 * @property {number} group
 * @property {string} [term]  opens the glossary instead of pinning
 */
/**
 * Where to look.
 * @typedef {object} Scope
 * @property {Step} step
 * @property {Iterable<Step>} others  steps at hand besides that one
 * @property {Record<string, any>} constants
 * @property {import('../trace/schema.js').Schema} schema
 * @property {{req_id: string}[]} requests
 * @property {Map<string, {letter: string}>} identities
 * @property {(index: number) => string[]} scheduled  names of the requests that a step runs, known without its tensors
 * @property {number} numSteps
 */

const MOST_PER_KIND = 6;
const MOST = 30;
/** Kinds in the order in which a bare number is most likely meant. */
const ORDER = /** @type {Kind[]} */ ([
  'slot',
  'block',
  'token_id',
  'position',
  'pool_row',
  'flat_token',
  'batch_row',
  'logical_block',
  'byte',
]);

/**
 * @param {string} text
 * @param {Scope} scope
 * @returns {{query: Query, hits: Hit[], capped: boolean}}  `capped`: there are more of a kind than are listed
 */
export function find(text, scope) {
  const query = parseQuery(text);
  if (query.text === '') return { query, hits: [], capped: false };
  const numbers = numberHits(query, scope);
  const hits = [...cellHits(query, scope), ...requestHits(query, scope), ...numbers.hits, ...termHits(query, scope)];
  return { query, hits: hits.slice(0, MOST), capped: numbers.capped || hits.length > MOST };
}

/** A cell named by its address. @param {Query} query @param {Scope} scope @returns {Hit[]} */
function cellHits({ cell }, scope) {
  if (!cell || !scope.schema.def(cell.space)) return [];
  for (const step of nearest(scope, true)) {
    if ((step.space(cell.space)?.find(cell.at) ?? -1) < 0) continue;
    return [
      {
        kind: 'cell',
        number: `${cell.space}[${cell.at.join(', ')}]`,
        says: 'cell',
        params: { value: String(step.space(cell.space)?.get(cell.at)) },
        cell,
        step: step.index,
        request: null,
        group: 0,
      },
    ];
  }
  return [];
}

/** @param {Query} query @param {Scope} scope @returns {{hits: Hit[], capped: boolean}} */
function numberHits(query, scope) {
  const { number } = query;
  if (number === null || query.cell) return { hits: [], capped: false };
  const requests = query.name === '' ? null : new Set(namesLike(query.name, scope));
  if (requests?.size === 0) return { hits: [], capped: false };
  const isBare = query.kinds.length === 0;
  const kinds = isBare ? ORDER : query.kinds;
  const ask = { number, requests, isBare, constants: scope.constants };
  /** @type {Hit[]} */
  const now = [];
  /** @type {Hit[]} */
  const later = [];
  /** @type {Kind[]} */
  const missing = [];
  let capped = false;
  for (const kind of kinds) {
    const running = RUNNING[kind]?.(scope.step, ask) ?? [];
    const held = running.length < MOST_PER_KIND ? (HELD[kind]?.(scope.step, ask) ?? []) : [];
    capped ||= running.length > MOST_PER_KIND || held.length > MOST_PER_KIND;
    now.push(...running.slice(0, MOST_PER_KIND));
    // A bare number more likely names what this step works on than what only lies there.
    (isBare ? later : now).push(...held.slice(0, MOST_PER_KIND));
    if (running.length === 0) missing.push(kind);
  }
  return { hits: [...now, ...later.slice(0, MOST_PER_KIND), ...elsewhere(missing, ask, scope)], capped };
}

/**
 * For what the step on screen does not run: the nearest other step that does.
 * @param {Kind[]} kinds
 * @param {import('./step.js').Ask} ask
 * @param {Scope} scope
 */
function elsewhere(kinds, ask, scope) {
  /** @type {Hit[]} */
  const found = [];
  for (const kind of kinds) {
    const look = ELSEWHERE.has(kind) ? RUNNING[kind] : undefined;
    if (!look) continue;
    for (const step of nearest(scope, false)) {
      const hits = look(step, ask);
      if (hits.length === 0) continue;
      found.push(...hits.slice(0, 2));
      break;
    }
  }
  return found;
}

/** Rows of a batch or of the pool mean something else in every step: they are not looked for in others. */
const ELSEWHERE = new Set(['slot', 'block', 'token_id', 'position', 'byte']);

/** @param {Scope} scope @param {boolean} withCurrent @returns {Step[]} */
function nearest(scope, withCurrent) {
  const here = scope.step.index;
  const others = [...scope.others].filter((step) => step.index !== here);
  others.sort((a, b) => Math.abs(a.index - here) - Math.abs(b.index - here) || b.index - a.index);
  return withCurrent ? [scope.step, ...others] : others;
}

/** @param {Query} query @param {Scope} scope @returns {Hit[]} */
function requestHits(query, scope) {
  const asked = query.kinds.length === 0 || query.kinds.includes('request');
  // A whole text may be a name although it reads like a question: "slot-1", "207".
  const whole = namesLike(query.text, scope, true);
  const byPart = asked && query.name !== '' && query.number === null ? namesLike(query.name, scope) : [];
  const byNumber = query.kinds.includes('request') && query.number !== null ? namesLike(String(query.number), scope) : [];
  const names = [...new Set([...whole, ...byPart, ...byNumber])];
  return names.slice(0, MOST_PER_KIND).flatMap((name, place) => aboutRequest(name, scope, place === 0));
}

/**
 * Requests whose name is the text, else begins with it, else contains it; also by the letter they are shown with.
 * @param {string} text @param {Scope} scope @param {boolean} [exactly]
 * @returns {string[]}
 */
function namesLike(text, { requests, identities }, exactly = false) {
  const wanted = text.toLowerCase();
  /** @type {string[][]} */
  const ranks = [[], [], [], [], []];
  for (const { req_id: name } of requests) {
    const low = name.normalize('NFKC').toLowerCase();
    const letter = identities.get(name)?.letter;
    if (name === text) ranks[0].push(name);
    else if (low === wanted) ranks[1].push(name);
    else if (letter === text) ranks[2].push(name);
    else if (!exactly && low.startsWith(wanted)) ranks[3].push(name);
    else if (!exactly && wanted.length > 1 && low.includes(wanted)) ranks[4].push(name);
  }
  const found = ranks.findIndex((names) => names.length > 0);
  return found < 0 ? [] : found < 3 ? ranks[found].slice(0, 1) : ranks.slice(found).flat();
}

/**
 * Where a request is in the step, and its first token there.
 * @param {string} name
 * @param {Scope} scope
 * @param {boolean} inDetail
 * @returns {Hit[]}
 */
function aboutRequest(name, scope, inDetail) {
  const { step } = scope;
  const row = step.rows.get(name);
  const batch = step.json.req_ids.indexOf(name);
  const base = { kind: /** @type {const} */ ('request'), number: name, request: name, group: 0, step: step.index };
  if (row !== undefined && batch >= 0) {
    const start = Number(step.space('query_start_loc')?.get([batch]));
    const count = Number(step.space('num_scheduled_tokens')?.get([batch]));
    /** @type {Hit[]} */
    const hits = [
      {
        ...base,
        says: 'request_running',
        params: { batch: String(batch), row: String(row), n: String(count) },
        cell: { space: 'idx_mapping', at: [batch] },
      },
    ];
    const slot = step.space('slot_mappings')?.get([0, start]);
    if (inDetail && typeof slot === 'number' && slot >= 0)
      hits.push({
        ...base,
        says: 'request_first',
        params: { token: String(start), slot: String(slot) },
        cell: { space: 'slot_mappings', at: [0, start] },
      });
    return hits;
  }
  if (row !== undefined)
    return [
      { ...base, says: 'request_idle', params: { row: String(row) }, cell: { space: 'num_computed_tokens', at: [row] } },
    ];
  return otherSteps(name, scope, base);
}

/** @param {string} name @param {Scope} scope @param {Omit<Hit, 'says' | 'params' | 'cell'>} base @returns {Hit[]} */
function otherSteps(name, scope, base) {
  const here = scope.step.index;
  const runs = Array.from({ length: scope.numSteps }, (_, index) => index).filter((index) =>
    scope.scheduled(index).includes(name),
  );
  if (runs.length === 0) return [{ ...base, says: 'request_never', params: {}, cell: null }];
  const index = runs.reduce((best, one) => (Math.abs(one - here) < Math.abs(best - here) ? one : best));
  const step = [...scope.others].find((one) => one.index === index);
  const batch = step?.json.req_ids.indexOf(name) ?? -1;
  return [
    {
      ...base,
      step: index,
      says: 'request_elsewhere',
      params: {},
      cell: batch < 0 ? null : { space: 'idx_mapping', at: [batch] },
    },
  ];
}

/** A word alone asks what the thing is. */
const TERM_OF = /** @type {Record<Kind, string>} */ ({
  slot: 'slot',
  block: 'block',
  logical_block: 'logical-block',
  token_id: 'input_ids',
  flat_token: 'flat_token_idx',
  position: 'position',
  pool_row: 'req_state_idx',
  batch_row: 'batch_idx',
  byte: 'byte_offset',
  request: 'request',
});

/**
 * Tensors by the beginning of their name, and index spaces by the words for them: they are explained, not pinned.
 * @param {Query} query
 * @param {Scope} scope
 * @returns {Hit[]}
 */
function termHits(query, scope) {
  if (query.number !== null || query.cell) return [];
  const explained = (/** @type {Hit['kind']} */ kind, /** @type {string} */ number, /** @type {string} */ term) => ({
    kind,
    number,
    says: 'term',
    params: {},
    cell: null,
    step: scope.step.index,
    request: null,
    group: 0,
    term,
  });
  if (query.name === '' && query.kinds.length > 0) return query.kinds.map((kind) => explained(kind, '', TERM_OF[kind]));
  const wanted = query.text.toLowerCase().replace(/\s+/g, '_');
  if (wanted.length < 3) return [];
  const names = [...scope.schema.spaces.keys()].filter((name) => name.startsWith(wanted));
  return names.slice(0, MOST_PER_KIND).map((name) => explained('term', name, name));
}
