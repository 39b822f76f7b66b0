// @ts-check
/**
 * Messages of one language: flat keys, `{name}` placeholders. A key with a `.one` twin uses it where the
 * parameter `n`, or the number `value`, is 1; `{count:block|blocks}` is a number with the word that goes with it.
 */

/** @typedef {(key: string, params?: Record<string, unknown>) => string} Translate */

/**
 * @param {Record<string, string>} catalogue
 * @returns {Translate}
 */
export function translator(catalogue) {
  return (key, params = {}) => {
    const text = (params.n === 1 || params.value === 1 ? catalogue[`${key}.one`] : undefined) ?? catalogue[key];
    if (text === undefined) return key;
    return text.replace(/\{(\w+)(?::([^|{}]+)\|([^|{}]+))?\}/g, (whole, name, one, many) => {
      if (!(name in params)) return whole;
      const value = readable(params[name]);
      return one ? `${value} ${params[name] === 1 ? one : many}` : value;
    });
  };
}

/** @param {unknown} value */
function readable(value) {
  if (value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value))) return '?';
  return typeof value === 'number' ? groupDigits(value) : isolated(String(value));
}

/** What is written from right to left (blocks of Unicode that are so as a whole), and controls that turn the order. */
const TURNS =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name that can turn the order of what is around it keeps that to itself. @param {string} text */
function isolated(text) {
  return TURNS.test(text) ? `\u2068${closed(text)}\u2069` : text;
}

/** Embeddings end with the isolate around them; what begins or ends an isolate without its other end is spelt out. @param {string} text */
function closed(text) {
  const characters = [...text];
  /** @type {number[]} */
  const open = [];
  const alone = new Set();
  for (const [place, character] of characters.entries()) {
    if (/[\u2066-\u2068]/.test(character)) open.push(place);
    else if (character === '\u2069' && open.pop() === undefined) alone.add(place);
  }
  for (const place of open) alone.add(place);
  return characters.map((one, place) => (alone.has(place) ? `\\u${one.charCodeAt(0).toString(16)}` : one)).join('');
}

/**
 * 847872 -> 847,872. Four digits stay together: ids are read as names.
 * @param {number} value
 */
export function groupDigits(value) {
  const text = String(value);
  if (Math.abs(value) < 10_000 || !Number.isInteger(value)) return text;
  return text.replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * Runs of consecutive numbers in words a reader can check: [207, 704..711] -> "207, 704–711".
 * @param {ArrayLike<number>} values
 * @param {Translate} t
 * @param {number} most runs to name before giving up with an ellipsis
 */
export function runs(values, t, most = 4) {
  /** @type {string[]} */
  const parts = [];
  for (let first = 0; first < values.length; ) {
    let last = first;
    while (last + 1 < values.length && values[last + 1] === values[last] + 1) last += 1;
    if (parts.length === most) return [...parts, '…'].join(t('list.separator'));
    parts.push(first === last ? String(values[first]) : `${values[first]}–${values[last]}`);
    first = last + 1;
  }
  return parts.join(t('list.separator'));
}
