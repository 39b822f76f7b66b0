// @ts-check
/**
 * What was opened lately, kept in this browser: examples and links, by the part of the address that names them. Drafts
 * are a list of their own.
 */
import { isObject, isText } from '../../core/scenario/outline.js';

/** @typedef {{search: string, title: string, opened: number}} Recent  search: the query that opens it again */

export const KEY = 'pagewalk.recent';
export const MOST = 20;
/** A longer link would take the room of the drafts. */
const LONGEST = 32_000;

/** @returns {Recent[]} the one opened last first; empty where storage is blocked */
export function recents() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter(isRecent) : [];
  } catch {
    return []; // blocked, or something else is kept there
  }
}

/** @param {string} search @param {string} title */
export function note(search, title) {
  if (search.length > LONGEST) return;
  put([{ search, title, opened: Date.now() }, ...recents().filter((one) => one.search !== search)].slice(0, MOST));
}

/** @param {string | null} search  null: all of them */
export function forget(search) {
  put(search === null ? [] : recents().filter((one) => one.search !== search));
}

/** @param {Recent[]} list */
function put(list) {
  try {
    if (list.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // Blocked or full: what is kept of drafts is said where it matters, this list is a convenience.
  }
}

/** @param {any} one @returns {one is Recent} */
function isRecent(one) {
  return (
    isObject(one) && isText(one.search) && one.search.startsWith('?') && isText(one.title) && Number.isFinite(one.opened)
  );
}
