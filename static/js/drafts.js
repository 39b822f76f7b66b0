// @ts-check
/** Scenarios that the reader changed, kept in this browser until they are older than the last few. */

/** @typedef {import('./core/edits.js').Scenario} Scenario */
/** @typedef {{id: string, saved: number, title: string, scenario: Scenario}} Draft */

const KEY = 'pagewalk.drafts';
const MOST = 12;

/** @returns {Draft[]} newest first; empty where storage is blocked or damaged */
export function drafts() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(found) ? found.filter((draft) => draft && typeof draft.id === 'string' && Array.isArray(draft.scenario?.steps)) : [];
  } catch {
    return [];
  }
}

/** @param {string} id @returns {Draft | null} */
export function draft(id) {
  return drafts().find((one) => one.id === id) ?? null;
}

/** @param {string} id @param {Scenario} scenario @returns {boolean} whether it is kept */
export function keep(id, scenario) {
  const entry = { id, saved: Date.now(), title: scenario.title ?? '', scenario };
  try {
    localStorage.setItem(KEY, JSON.stringify([entry, ...drafts().filter((one) => one.id !== id)].slice(0, MOST)));
    return true;
  } catch {
    return false;
  }
}

export function newId() {
  return Date.now().toString(36) + Math.floor(Math.random() * 1296).toString(36);
}
