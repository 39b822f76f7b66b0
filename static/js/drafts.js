// @ts-check
/**
 * Scenarios that the reader changed, kept in this browser until they are older than the last few. What is deleted, or
 * makes room for others, can be had back for a while.
 */
import { hasOutline, isMissingOr, isObject, isText } from './core/outline.js';

/** @typedef {import('./core/edits.js').Scenario} Scenario */
/**
 * @typedef {object} Draft
 * @property {string} id
 * @property {number} saved  when it was used last
 * @property {number} [changed]  when its scenario was changed last
 * @property {string} title
 * @property {Scenario} scenario
 */
/** @typedef {Draft & {deleted: number, pushed?: boolean}} Deleted  pushed: it made room for others */
/** @typedef {'kept' | 'full' | 'blocked'} Kept */

export const KEY = 'pagewalk.drafts';
export const DELETED = 'pagewalk.drafts.deleted';
/** Where what could not be read is put aside. */
const DAMAGED = 'pagewalk.drafts.damaged';
export const MOST = 24;
export const MOST_DELETED = 8;

/** @returns {Draft[]} the one used last first; empty where storage is blocked */
export function drafts() {
  return read().whole;
}

/** @returns {{whole: Draft[], damaged: string[]}} damaged: ids, '' where not even that can be read */
export function read() {
  return parse(textOf(KEY));
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

/** What can be had back, the one deleted last first. @returns {Deleted[]} */
export function deleted() {
  return /** @type {Deleted[]} */ (parse(textOf(DELETED)).whole);
}

/** Whether the reader deleted it, here or in another tab. @param {string} id */
export function isDeleted(id) {
  return deleted().some((one) => one.id === id && !one.pushed);
}

/** Whether this browser lets the page keep anything. */
export function isBlocked() {
  try {
    localStorage.getItem(KEY);
    return false;
  } catch {
    return true;
  }
}

/**
 * Keeps a draft as the one used last; those not used for longest make room.
 * @param {string} id @param {Scenario} scenario @returns {Kept}
 */
export function keep(id, scenario) {
  const before = drafts();
  const prior = before.find((one) => one.id === id);
  const now = Date.now();
  const isSame = prior !== undefined && JSON.stringify(prior.scenario) === JSON.stringify(scenario);
  const entry = { id, saved: now, changed: isSame ? (prior.changed ?? prior.saved) : now, title: scenario.title ?? '', scenario };
  return write([entry, ...before.filter((one) => one.id !== id && !isEmpty(one))]);
}

/** Another one of the same. @param {string} id @param {string} title @returns {Kept} */
export function duplicate(id, title) {
  const found = draft(id);
  return found ? keep(newId(), { ...found.scenario, title }) : 'kept';
}

/** It stays where it is in the list. @param {string} id @param {string} title @returns {Kept} */
export function rename(id, title) {
  return write(drafts().map((one) => (one.id === id ? { ...one, changed: Date.now(), title, scenario: { ...one.scenario, title } } : one)));
}

/** @param {string} id @returns {Kept} */
export function remove(id) {
  const found = draft(id);
  if (!found) return 'kept';
  const kept = write(drafts().filter((one) => one.id !== id));
  return kept === 'kept' ? bury([{ ...found, deleted: Date.now() }]) : kept;
}

/** Has it back where it was by its time. @param {string} id @returns {Kept} */
export function restore(id) {
  const found = deleted().find((one) => one.id === id);
  if (!found || draft(id)) return 'kept';
  const { deleted: _when, pushed: _why, ...entry } = found;
  const there = drafts();
  // Where there is no room, it is the one just asked for that stays.
  if (there.length >= MOST) return write([{ ...entry, saved: Date.now() }, ...there]);
  return write([...there, entry].sort((a, b) => (b.saved ?? 0) - (a.saved ?? 0)));
}

export function newId() {
  return Date.now().toString(36) + Math.floor(Math.random() * 1296).toString(36);
}

/** @param {Draft[]} list @returns {Kept} */
function write(list) {
  const kept = put(KEY, list.slice(0, MOST));
  if (kept !== 'kept') return kept;
  const there = deleted();
  const rest = there.filter(({ id }) => !list.some((one) => one.id === id));
  if (rest.length < there.length) put(DELETED, rest);
  const pushed = list.slice(MOST).map((one) => ({ ...one, deleted: Date.now(), pushed: true }));
  if (pushed.length > 0) bury(pushed);
  return kept;
}

/** @param {Deleted[]} list @returns {Kept} */
function bury(list) {
  const rest = deleted().filter(({ id }) => !list.some((one) => one.id === id));
  const kept = put(DELETED, [...list, ...rest].slice(0, MOST_DELETED));
  return kept === 'full' && rest.length > 0 ? put(DELETED, list) : kept;
}

/** @param {string} key @param {unknown} value @returns {Kept} */
function put(key, value) {
  try {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(key, text);
    } catch (error) {
      // What is kept counts for more than what was deleted.
      if (key !== KEY || !isFull(error) || localStorage.getItem(DELETED) === null) throw error;
      localStorage.removeItem(DELETED);
      localStorage.setItem(key, text);
    }
    return 'kept';
  } catch (error) {
    return isFull(error) ? 'full' : 'blocked';
  }
}

/** @param {unknown} error */
function isFull(error) {
  return error instanceof DOMException && /quota/i.test(error.name);
}

/** @param {string} key */
function textOf(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is blocked
  }
}

/** Begun and left: nothing in it could be missed. @param {Draft} draft */
function isEmpty({ title, scenario }) {
  return !title && scenario.requests.length === 0 && scenario.steps.length === 0;
}

/** @param {any} one @returns {one is Draft} */
function isDraft(one) {
  return isObject(one) && isText(one.id) && isMissingOr(one.title, isText) && hasOutline(one.scenario);
}
