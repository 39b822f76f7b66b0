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

/** A name written from right to left keeps its direction to itself. @param {string} text */
function isolated(text) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
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
