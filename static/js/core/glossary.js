// @ts-check
/**
 * The glossary as the server gives it (`GET /api/glossary`): grouped for reading, ranked for searching.
 */

/**
 * @typedef {object} Term
 * @property {string} term
 * @property {'stage' | 'space' | 'dim' | 'concept'} kind
 * @property {string} name  what is printed
 * @property {string | null} words  a code name in words
 * @property {boolean} is_code
 * @property {string | null} theme  of a concept
 * @property {string} definition
 * @property {string | null} confusion
 * @property {{name: string, whose: string}[]} also
 * @property {string[]} related
 * @property {{file: string, symbol: string} | null} vllm
 * @property {{dims: string[], dtype: string, stage: string, holds: string | null, exactness: string} | null} space
 * @property {{stage?: string[], along?: string[], hold?: string[]}} spaces
 */
/** @typedef {{key: string, terms: Term[]}} Group  `key` of its title in the catalogue */
/** @typedef {{term: Term, via: {name: string, whose: string} | null}} Match  `via`: the other name that was searched for */

/** What a cell that is not plain data is called in the glossary. */
export const STATE_TERMS = /** @type {Record<string, string>} */ ({
  stale: 'stale-tail',
  padding: 'padding',
  null: 'null-block',
  unknown: 'unknown',
  not_local: 'context-parallelism',
  freed: 'free_indices',
});

/** Code names that sentences use and that are terms, but no tensor or index of the schema. */
export const CODE_TERMS = new Set([
  'all_token_ids',
  'free_indices',
  'block_size',
  'max_model_len',
  'max_num_batched_tokens',
  'max_num_reqs',
  'num_tokens',
  'num_speculative_tokens',
  'PAD_SLOT_ID',
]);

const CODE = /\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b/g;

/**
 * Concepts by theme, indices, then each stage with its tensors, in the order of the pipeline.
 * @param {Term[]} terms
 * @returns {Group[]}
 */
export function groupsOf(terms) {
  /** @type {Map<string, Term[]>} */
  const groups = new Map();
  const add = (/** @type {string} */ key, /** @type {Term} */ term) => groups.set(key, [...(groups.get(key) ?? []), term]);
  for (const term of terms) if (term.kind === 'concept') add(`terms.theme.${term.theme}`, term);
  for (const term of terms) if (term.kind === 'dim') add('terms.group.dim', term);
  for (const term of terms) if (term.kind === 'stage') add(`stage.${term.term}`, term);
  for (const term of terms) if (term.space) add(`stage.${term.space.stage}`, term);
  return [...groups].map(([key, members]) => ({ key, terms: members }));
}

/**
 * Terms that a text names: by the beginning of a name before its middle, by its own name before another's, and last by
 * a word of the definition.
 * @param {Term[]} terms
 * @param {string} text
 * @returns {Match[]}
 */
export function searchTerms(terms, text) {
  const wanted = plain(text);
  if (wanted === '') return [];
  /** @type {{match: Match, rank: number}[]} */
  const found = [];
  for (const term of terms) {
    const own = Math.min(...[term.name, term.term, term.words ?? ''].map((name) => rankOf(name, wanted)));
    const other = term.also.map((one) => ({ one, rank: rankOf(one.name, wanted) })).sort((a, b) => a.rank - b.rank)[0];
    const others = other?.rank ?? 9;
    const rank = Math.min(own, others + 0.5, plain(term.definition).includes(wanted) && isTelling(wanted) ? 8 : 9);
    if (rank < 9) found.push({ match: { term, via: others + 0.5 < own && rank < 8 ? other.one : null }, rank });
  }
  return found.sort((a, b) => a.rank - b.rank).map(({ match }) => match);
}

/** @param {string} name @param {string} wanted */
function rankOf(name, wanted) {
  const own = plain(name);
  if (own === '') return 9;
  if (own === wanted) return 0;
  const place = own.indexOf(wanted);
  if (place === 0) return 1;
  if (place > 0) return own[place - 1] === ' ' ? 2 : 4;
  return 9;
}

/**
 * Names are searched as they are spoken: `query_start_loc`, "query start loc" and "Query-Start" are the same.
 * @param {string} text
 */
function plain(text) {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();
}

/**
 * A sentence in pieces: code names, and among them those that are terms.
 * @param {string} text
 * @param {(name: string) => boolean} isTerm
 * @returns {{text: string, kind: 'text' | 'code' | 'term'}[]}
 */
export function sentencePieces(text, isTerm) {
  /** @type {{text: string, kind: 'text' | 'code' | 'term'}[]} */
  const pieces = [];
  let end = 0;
  for (const found of text.matchAll(CODE)) {
    if (found.index > end) pieces.push({ text: text.slice(end, found.index), kind: 'text' });
    pieces.push({ text: found[0], kind: isTerm(found[0]) ? 'term' : 'code' });
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), kind: 'text' });
  return pieces;
}

/** Whether a word is long enough to be looked for inside definitions: three letters, or two Chinese characters. @param {string} word */
function isTelling(word) {
  return word.length > (/[\u3400-\u9fff]/.test(word) ? 1 : 2);
}
