// @ts-check
/**
 * The compact form of a scenario: the plain document without what equals its default, keys as they are. What is wrong in
 * it stays as it is, for the server to say. app/scenario/format/compact.py does the same.
 */
import { isSame } from './same.js';

/** @typedef {import('./format.js').Format} Format */

/**
 * @param {Format} format
 * @param {any} scenario
 * @returns {any} a new document that stands for the same scenario
 */
export function compact(format, scenario) {
  return withoutDefaults(format, scenario);
}

/**
 * The same text for every way to write one scenario: what tells whether two are the same.
 * @param {Format} format
 * @param {any} scenario
 */
export function canonical(format, scenario) {
  return JSON.stringify(sorted(compact(format, scenario)));
}

/** @param {Format} format @param {any} value @returns {any} */
function withoutDefaults(format, value) {
  if (Array.isArray(value)) return value.map((entry) => withoutDefaults(format, entry));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, given]) => {
    if (given === undefined) return [];
    const field = format.get(key);
    if (!field) return [[key, given]];
    const { fallback, part, isPairs } = field;
    const inner = part ? withoutDefaults(part, given) : isPairs && isObject(given) ? Object.entries(given) : given;
    const isDefault = fallback !== undefined && isSame(inner, part ? withoutDefaults(part, fallback) : fallback);
    return isDefault ? [] : [[key, inner]];
  });
  return Object.fromEntries(kept);
}

/** @param {any} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {any} value @returns {any} keys in order; only for its text: numbers come before it */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
}
