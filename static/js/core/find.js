// @ts-check
/**
 * What a number or a name may mean in this step: a slot, a block, a token id, a position, a row, a request.
 *
 * In: the text of the find box. Out: the cells it can stand for, the likeliest first.
 */

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {{kind: string, space: string, at: number[], value: string}} Match  kind: slot, block, token_id, position, row, request */

const MOST = 12;

/** Kind -> the spaces whose values it looks through, and words it goes by. */
const KINDS = [
  { kind: 'slot', spaces: ['slot_mappings'], words: ['slot', '槽位'] },
  { kind: 'block', spaces: ['block_tables', 'stale_block_ids'], words: ['block', '块'] },
  { kind: 'token_id', spaces: ['input_ids', 'sampled_token_ids'], words: ['id', 'token_id', 'input_id', '编号'] },
  { kind: 'token', spaces: [], axis: 'flat_token_idx', words: ['token', 'flat_token_idx'] },
  { kind: 'position', spaces: ['positions'], words: ['position', 'pos', '位置'] },
  { kind: 'row', spaces: [], axis: 'req_state_idx', words: ['row', 'req_state_idx', '行', '池行'] },
];

/**
 * @param {Step} step
 * @param {string} query
 * @returns {Match[]}
 */
export function findCells(step, query) {
  const text = query.trim();
  if (text === '') return [];
  /** @type {Match[]} */
  const matches = [];
  const named = /^(\D+?)\s*[:= ]?\s*(\d{1,15})$/.exec(text);
  const word = named?.[1].trim().toLowerCase();
  const number = Number(named ? named[2] : /^\d{1,15}$/.test(text) ? text : NaN);
  const kinds = word === undefined ? KINDS : KINDS.filter(({ words }) => words.includes(word));
  if (!Number.isNaN(number)) for (const kind of kinds) matches.push(...ofKind(step, kind, number));
  matches.push(...requests(step, text));
  return matches.slice(0, MOST);
}

/** @param {Step} step @param {typeof KINDS[number]} kind @param {number} number @returns {Match[]} */
function ofKind(step, kind, number) {
  if (kind.axis === 'flat_token_idx') return number < step.numTokens ? [{ kind: kind.kind, space: 'positions', at: [number], value: String(number) }] : [];
  if (kind.axis === 'req_state_idx') return number < (step.space('row_req_ids')?.size ?? 0) ? [{ kind: kind.kind, space: 'num_computed_tokens', at: [number], value: String(number) }] : [];
  /** @type {Match[]} */
  const found = [];
  for (const name of kind.spaces) {
    const space = step.space(name);
    const cell = space?.numbers ? space.numbers.indexOf(number) : -1;
    if (space && cell >= 0) found.push({ kind: kind.kind, space: name, at: space.at(cell), value: String(number) });
  }
  return found.slice(0, 1);
}

/** Requests by the beginning of their name, those of this step first. @param {Step} step @param {string} text @returns {Match[]} */
function requests(step, text) {
  const wanted = text.toLowerCase();
  const names = step.space('row_req_ids')?.strings ?? [];
  /** @type {Match[]} */
  const found = [];
  names.forEach((name, row) => {
    if (name !== null && name.toLowerCase().startsWith(wanted)) found.push({ kind: 'request', space: 'row_req_ids', at: [row], value: name });
  });
  const now = new Set(step.json.req_ids);
  return found.sort((a, b) => Number(b.value === text) - Number(a.value === text) || Number(now.has(b.value)) - Number(now.has(a.value))).slice(0, MOST);
}
