// @ts-check
/**
 * What somebody typed into the text view, kept in this browser as it was typed: comments, own layout, and text that
 * cannot be read yet. The scenario itself is kept with the drafts.
 */

import { whyNot } from './drafts.js';

/** @typedef {import('../../core/text/scenario-text.js').Notation} Notation */
/**
 * @typedef {object} Typed
 * @property {string} text
 * @property {Notation} notation
 * @property {string} of  a mark of the scenario that it was typed over
 * @property {boolean} isUnread  it does not say that scenario: it is newer, or cannot be read
 * @property {boolean} [asNew]  it came from a file, and is to be a scenario of its own
 */

const KEY = 'pagewalk.texts';
const NOTATION = 'pagewalk.notation';
const MOST = 8;
/** What was read last: asked for whenever the page is drawn. @type {{raw: string, texts: [string, Typed][]}} */
let last = { raw: '[]', texts: [] };

/** @returns {[string, Typed][]} the one typed last first */
function all() {
  try {
    const raw = localStorage.getItem(KEY) ?? '[]';
    if (raw !== last.raw) last = { raw, texts: parse(raw) };
    return last.texts;
  } catch {
    return []; // storage is blocked
  }
}

/** @param {string} raw @returns {[string, Typed][]} */
function parse(raw) {
  try {
    const found = JSON.parse(raw);
    return Array.isArray(found)
      ? found.filter((/** @type {any} */ one) => Array.isArray(one) && typeof one[0] === 'string' && isTyped(one[1]))
      : [];
  } catch {
    return []; // not ours
  }
}

/** @param {any} value */
function isTyped(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof value.text === 'string' &&
    typeof value.of === 'string' &&
    (value.notation === 'yaml' || value.notation === 'json')
  );
}

/** @param {string} name of what is open: `draft:...`, `example:...` @returns {Typed | null} */
export function typedText(name) {
  return all().find(([one]) => one === name)?.[1] ?? null;
}

/**
 * @param {string} name
 * @param {Typed | null} typed null: there is nothing that the scenario itself does not say
 * @returns {import('./drafts.js').Kept}
 */
export function keepText(name, typed) {
  const old = all();
  const others = old.filter(([one]) => one !== name);
  if (!typed && others.length === old.length) return 'kept';
  const texts = typed ? [/** @type {[string, Typed]} */ ([name, typed]), ...others] : others;
  const kept = put(texts.slice(0, MOST));
  return kept === 'full' ? put(texts.slice(0, 1)) : kept; // the others go first where room is short
}

/** @param {[string, Typed][]} texts @returns {import('./drafts.js').Kept} */
function put(texts) {
  try {
    localStorage.setItem(KEY, JSON.stringify(texts));
    return 'kept';
  } catch (error) {
    return whyNot(error);
  }
}

/** Tells whether a scenario is still the one that a text was typed over. @param {unknown} scenario */
export function markOf(scenario) {
  const text = JSON.stringify(scenario);
  let hash = 5381;
  for (let at = 0; at < text.length; at += 1) hash = ((hash * 33) ^ text.charCodeAt(at)) >>> 0;
  return `${text.length.toString(36)}-${hash.toString(36)}`;
}

/** The notation used last. @returns {Notation} */
export function usualNotation() {
  try {
    return localStorage.getItem(NOTATION) === 'json' ? 'json' : 'yaml';
  } catch {
    return 'yaml';
  }
}

/** @param {Notation} notation */
export function rememberNotation(notation) {
  try {
    localStorage.setItem(NOTATION, notation);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}
