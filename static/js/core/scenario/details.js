// @ts-check
/**
 * What is typed into the details of a request, a step or a cell: ids or how many, block ids, what is in the pool from the
 * start. Text in, a value of the scenario out; what cannot be read stays the text it is, and is said by the server.
 */
import { detailOf, setDetail, setPromptLen } from './edits.js';

/** @typedef {import('./edits.js').Scenario} Scenario */

const SEPARATOR = /[\s,;，、；]+/;
const BRACKETS = /^[[(（【]\s*|\s*[\])）】]$/g;

/**
 * "3" is how many, "[3]" or "3, 5" are ids.
 * @param {string} text @returns {number | number[] | string | undefined} undefined: nothing is said
 */
export function readIds(text) {
  const typed = text.trim().normalize('NFKC');
  if (typed === '') return undefined;
  if (/^\d{1,10}$/.test(typed)) return Number(typed);
  const parts = typed.replace(BRACKETS, '').split(SEPARATOR).filter(Boolean);
  return parts.every((part) => /^-?\d{1,10}$/.test(part)) ? parts.map(Number) : typed;
}

/** @param {any} value @returns {string} */
export function showIds(value) {
  if (!Array.isArray(value)) return value === undefined || value === null ? '' : String(value);
  return value.length > 1 ? value.join(', ') : `[${value.join('')}]`;
}

/** @param {string} text @returns {number | string | undefined} */
export function readNumber(text) {
  const typed = text.trim().normalize('NFKC');
  if (typed === '') return undefined;
  return /^\d{1,10}$/.test(typed) ? Number(typed) : typed;
}

/** Block ids; ? is one that is not known. @param {string} text @returns {(number | null)[] | string | undefined} */
export function readBlocks(text) {
  const typed = text.trim().normalize('NFKC');
  if (typed === '') return undefined;
  const parts = typed.replace(BRACKETS, '').split(SEPARATOR).filter(Boolean);
  return parts.every((part) => /^(-?\d{1,10}|\?|null)$/.test(part))
    ? parts.map((part) => (/\d/.test(part) ? Number(part) : null))
    : typed;
}

/** @param {any} ids @returns {string} */
export function showBlocks(ids) {
  if (!Array.isArray(ids)) return ids === undefined || ids === null ? '' : String(ids);
  return ids.length === 0 ? '[]' : ids.map((id) => (id === null ? '?' : id)).join(', ');
}

/**
 * One group's new blocks. The others keep theirs, or get what the pool gave, so that only what was typed changes; without
 * any typed ids all come from the pool again.
 * @param {any} said block ids per group, as they are
 * @param {number} group @param {any} value undefined: from the pool @param {number} numGroups
 * @param {any[][]} given what the pool gave, as far as it is known
 * @returns {any} undefined: all from the pool
 */
export function withGroup(said, group, value, numGroups, given) {
  if (value === undefined && (numGroups === 1 || !Array.isArray(said))) return undefined;
  return Array.from({ length: numGroups }, (_, place) => {
    const before = Array.isArray(said) ? (said[place] ?? []) : (given[place] ?? []);
    return place === group ? (value ?? []) : before;
  });
}

/** How many drafts are accepted; undefined: all. @param {any} sampled */
export function acceptedOf(sampled) {
  if (Array.isArray(sampled)) return sampled.length - 1;
  return Number.isInteger(sampled) ? sampled - 1 : undefined;
}

/**
 * @param {Scenario} draft @param {number} step @param {string} reqId @param {string} text
 * @returns {Scenario} so many drafts accepted: one more token is sampled than that
 */
export function setAccepted(draft, step, reqId, text) {
  const value = readNumber(text);
  return setDetail(draft, step, reqId, 'sampled_token_ids', typeof value === 'number' ? value + 1 : value);
}

/**
 * Drafts of a cell. They are part of what is scheduled, so the count moves with their number.
 * @param {Scenario} draft @param {number} step @param {string} reqId @param {string} text @returns {Scenario}
 */
export function setDrafts(draft, step, reqId, text) {
  const value = readIds(text);
  const count = (/** @type {any} */ ids) => (Array.isArray(ids) ? ids.length : Number.isInteger(ids) ? ids : null);
  const [before, after] = [count(detailOf(draft.steps[step], 'draft_token_ids', reqId) ?? 0), count(value ?? 0)];
  const next = setDetail(draft, step, reqId, 'draft_token_ids', value === 0 ? undefined : value);
  if (before === null || after === null) return next;
  const pairs = (next.steps[step].num_scheduled_tokens ?? []).map(
    ([name, old]) =>
      /** @type {[string, any]} */ ([
        name,
        name === reqId && Number.isInteger(old) ? Math.max(1, old - before + after) : old,
      ]),
  );
  return {
    ...next,
    steps: next.steps.map((one, index) => (index === step ? { ...one, num_scheduled_tokens: pairs } : one)),
  };
}

/** A length, or the ids themselves. @param {Scenario} draft @param {number} row @param {string} text @returns {Scenario} */
export function setPrompt(draft, row, text) {
  const value = readIds(text);
  if (!Array.isArray(value)) return setPromptLen(draft, row, value ?? draft.requests[row]?.prompt_len ?? null);
  return withRequest(draft, row, ({ prompt_len: _length, ...rest }) => ({ ...rest, prompt_token_ids: value }));
}

/**
 * Whether a request is in the pool before step 0.
 * @param {Scenario} draft
 * @param {number} row
 * @param {boolean} isThere
 * @returns {Scenario}
 */
export function setInitial(draft, row, isThere) {
  return withRequest(draft, row, ({ initial, ...rest }) => (isThere ? { ...rest, initial: initial ?? {} } : rest));
}

/**
 * @param {Scenario} draft
 * @param {number} row
 * @param {string} field of `initial`
 * @param {any} value undefined: the default
 * @returns {Scenario}
 */
export function setInitialField(draft, row, field, value) {
  return withRequest(draft, row, (request) => {
    const { [field]: _old, ...others } = request.initial ?? {};
    return { ...request, initial: value === undefined ? others : { ...others, [field]: value } };
  });
}

/** @param {Scenario} draft @param {number} row @param {(old: any) => any} change @returns {Scenario} */
function withRequest(draft, row, change) {
  return { ...draft, requests: draft.requests.map((request, place) => (place === row ? change(request) : request)) };
}

/** What can be counted in a text. None of it is the number of tokens a tokenizer would give. @param {string} text */
export function countText(text) {
  const words = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter(
    ({ isWordLike }) => isWordLike,
  ).length;
  return { words, characters: [...text].length, bytes: new TextEncoder().encode(text).length };
}
