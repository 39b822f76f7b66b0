// @ts-check
/**
 * Scenarios that the reader changed, kept in this browser until they are older than the last few. What is deleted, or
 * makes room for others, can be had back for a while.
 */
import { hasOutline, isMissingOr, isObject, isText } from '../../core/scenario/outline.js';
import { isSame } from '../../core/scenario/same.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */
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
/** Milliseconds. */
const LATEST = 250;

/**
 * What is to be kept next, and who is told whether it was.
 * @type {{id: string, scenario: Scenario, told: (kept: Kept) => void} | null}
 */
let waiting = null;
let isWatched = false;
/**
 * What was read last, by what it is kept under: most of it is the same the next time.
 * @type {Map<string, {text: string, found: {whole: Draft[], damaged: string[]}}>}
 */
const known = new Map();
/** Drafts as they are written. @type {WeakMap<Draft, string>} */
const written = new WeakMap();

/** @returns {Draft[]} the one used last first; empty where storage is blocked */
export function drafts() {
  return read().whole;
}

/** @returns {{whole: Draft[], damaged: string[]}} damaged: ids, '' where not even that can be read */
export function read() {
  keepNow();
  return parsed(KEY);
}

/** @param {string} key */
function parsed(key) {
  const text = textOf(key);
  const last = known.get(key);
  if (last && last.text === text) return last.found;
  const found = parse(text);
  if (text === null) known.delete(key);
  else known.set(key, { text, found });
  return found;
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
  return /** @type {Deleted[]} */ (parsed(DELETED).whole);
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
  const isOld = prior !== undefined && isSame(prior.scenario, scenario);
  const entry = {
    id,
    saved: now,
    changed: isOld ? (prior.changed ?? prior.saved) : now,
    title: scenario.title ?? '',
    scenario,
  };
  return write([entry, ...before.filter((one) => one.id !== id && !isEmpty(one))]);
}

/**
 * Keeps a draft as soon as the edit is drawn: a long list takes longer to write than a key to type. Nobody who asks what is
 * kept, and nobody who leaves the page, comes before that.
 * @param {string} id @param {Scenario} scenario @param {(kept: Kept) => void} told
 */
export function keepSoon(id, scenario, told) {
  if (waiting && waiting.id !== id) keepNow();
  if (!waiting) {
    requestAnimationFrame(() => setTimeout(keepNow));
    setTimeout(keepNow, LATEST); // a page out of sight draws nothing
  }
  waiting = { id, scenario, told };
  if (isWatched) return;
  isWatched = true;
  addEventListener('pagehide', keepNow);
  document.addEventListener('visibilitychange', keepNow);
}

/** What is to be kept soon is kept. */
export function keepNow() {
  if (!waiting) return;
  const { id, scenario, told } = waiting;
  waiting = null;
  told(keep(id, scenario));
}

/** Another one of the same. @param {string} id @param {string} title @returns {Kept} */
export function duplicate(id, title) {
  const found = draft(id);
  return found ? keep(newId(), { ...found.scenario, title }) : 'kept';
}

/** It stays where it is in the list. @param {string} id @param {string} title @returns {Kept} */
export function rename(id, title) {
  return write(
    drafts().map((one) =>
      one.id === id ? { ...one, changed: Date.now(), title, scenario: { ...one.scenario, title } } : one,
    ),
  );
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

/** @param {string} key @param {Draft[]} list @returns {Kept} */
function put(key, list) {
  try {
    const fresh = list.filter((one) => !written.has(one));
    const text = `[${list.map(textOfDraft).join(',')}]`;
    try {
      localStorage.setItem(key, text);
    } catch (error) {
      // What is kept counts for more than what was deleted.
      if (key !== KEY || !isFull(error) || localStorage.getItem(DELETED) === null) throw error;
      localStorage.removeItem(DELETED);
      localStorage.setItem(key, text);
    }
    if (fresh.every(isDraft)) known.set(key, { text, found: { whole: list, damaged: [] } });
    return 'kept';
  } catch (error) {
    return whyNot(error);
  }
}

/** @param {Draft} draft */
function textOfDraft(draft) {
  let text = written.get(draft);
  if (text === undefined) written.set(draft, (text = JSON.stringify(draft)));
  return text;
}

/** @param {unknown} error */
function isFull(error) {
  return error instanceof DOMException && /quota/i.test(error.name);
}

/**
 * Why something could not be kept. A browser that allows no byte says that its storage is full, where nothing is in it.
 * @param {unknown} error of `setItem`
 * @returns {'full' | 'blocked'}
 */
export function whyNot(error) {
  try {
    return isFull(error) && localStorage.length > 0 ? 'full' : 'blocked';
  } catch {
    return 'blocked';
  }
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
