// @ts-check
/** Scenarios that the reader changed, kept in this browser until they are older than the last few. */
import { hasOutline, isMissingOr, isObject, isText } from './core/outline.js';

/** @typedef {import('./core/edits.js').Scenario} Scenario */
/** @typedef {{id: string, saved: number, title: string, scenario: Scenario}} Draft */

export const KEY = 'pagewalk.drafts';
/** Where what could not be read is put aside. */
const DAMAGED = 'pagewalk.drafts.damaged';
const MOST = 24;

/** @returns {Draft[]} the one used last first; empty where storage is blocked */
export function drafts() {
  return read().whole;
}

/** @returns {{whole: Draft[], damaged: string[]}} damaged: ids, '' where not even that can be read */
export function read() {
  try {
    return parse(localStorage.getItem(KEY));
  } catch {
    return { whole: [], damaged: [] }; // storage is blocked
  }
}

/** @param {string | null} text @returns {{whole: Draft[], damaged: string[]}} */
export function parse(text) {
  if (text === null) return { whole: [], damaged: [] };
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    found = null;
  }
  if (!Array.isArray(found)) return { whole: [], damaged: [''] };
  const whole = found.filter(isDraft);
  const damaged = found.filter((one) => !isDraft(one)).map((one) => (typeof one?.id === 'string' ? one.id : ''));
  return { whole, damaged };
}

/** Takes what cannot be read out of the list, so that it is said once; the text itself is not lost. */
export function putDamagedAside() {
  try {
    localStorage.setItem(DAMAGED, localStorage.getItem(KEY) ?? '');
    localStorage.setItem(KEY, JSON.stringify(drafts()));
  } catch {
    // Storage is blocked or full: then it is said again.
  }
}

/** @param {string} id @returns {Draft | null} */
export function draft(id) {
  return drafts().find((one) => one.id === id) ?? null;
}

/**
 * Keeps a draft as the one used last; those not used for longest go first.
 * @param {string} id @param {Scenario} scenario @returns {'kept' | 'full' | 'blocked'}
 */
export function keep(id, scenario) {
  const entry = { id, saved: Date.now(), title: scenario.title ?? '', scenario };
  try {
    localStorage.setItem(KEY, JSON.stringify([entry, ...drafts().filter((one) => one.id !== id)].slice(0, MOST)));
    return 'kept';
  } catch (error) {
    return error instanceof DOMException && /quota/i.test(error.name) ? 'full' : 'blocked';
  }
}

export function newId() {
  return Date.now().toString(36) + Math.floor(Math.random() * 1296).toString(36);
}

/** @param {any} one @returns {one is Draft} */
function isDraft(one) {
  return isObject(one) && isText(one.id) && isMissingOr(one.title, isText) && hasOutline(one.scenario);
}
