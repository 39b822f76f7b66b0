// @ts-check
/** The list of drafts to undo and redo, and where on the schedule two drafts differ. */
import { BY_REQUEST, detailOf, scheduled } from './edits.js';
import { markOf } from './entry.js';

/** @typedef {import('./edits.js').Scenario} Scenario */

/** The drafts before and after the present one. */
export class Undo {
  /** @param {number} most */
  constructor(most = 200) {
    this.most = most;
    /** @type {Scenario[]} */
    this.past = [];
    /** @type {Scenario[]} */
    this.future = [];
  }

  /** @param {Scenario} before the draft that an edit replaced */
  push(before) {
    this.past.push(before);
    if (this.past.length > this.most) this.past.shift();
    this.future = [];
  }

  /** @param {Scenario} present @returns {Scenario | null} */
  undo(present) {
    const before = this.past.pop();
    if (before) this.future.push(present);
    return before ?? null;
  }

  /** @param {Scenario} present @returns {Scenario | null} */
  redo(present) {
    const after = this.future.pop();
    if (after) this.past.push(present);
    return after ?? null;
  }
}

/**
 * The first cell that two drafts do not share: where the keyboard goes when a change is taken back.
 * @param {Scenario} before @param {Scenario} after
 * @returns {{row: number, column: number} | null} a place of `after`; column -1 is what a request is, null: the difference
 *   is elsewhere
 */
export function placeOfChange(before, after) {
  const lastRow = after.requests.length - 1;
  if (lastRow < 0) return null;
  const requests = before.requests.length === after.requests.length ? [] : [...after.requests.keys(), lastRow + 1];
  for (const row of requests) {
    if (before.requests[row]?.req_id === after.requests[row]?.req_id) continue;
    return {
      row: Math.min(row, lastRow),
      column: after.steps.length > 0 ? firstStep(after, after.requests[row]?.req_id) : -1,
    };
  }
  for (const [row, request] of after.requests.entries()) {
    if (request !== before.requests[row] && JSON.stringify(request) !== JSON.stringify(before.requests[row]))
      return { row, column: -1 };
  }
  const most = Math.max(before.steps.length, after.steps.length);
  for (let step = 0; step < most; step += 1) {
    const [old, next] = [before.steps[step], after.steps[step]];
    if (old === next || JSON.stringify(old) === JSON.stringify(next)) continue;
    const row = after.requests.findIndex(({ req_id }) => differs(before, after, step, req_id));
    return { row: Math.max(0, row), column: Math.min(step, after.steps.length - 1) };
  }
  return null;
}

/** @param {Scenario} draft @param {string | undefined} reqId */
function firstStep(draft, reqId) {
  const step = reqId === undefined ? -1 : draft.steps.findIndex((_, index) => scheduled(draft, index, reqId) !== undefined);
  return Math.max(0, step);
}

/** @param {Scenario} before @param {Scenario} after @param {number} step @param {string} reqId */
function differs(before, after, step, reqId) {
  const said = (/** @type {Scenario} */ draft) =>
    JSON.stringify([
      scheduled(draft, step, reqId),
      markOf(draft, step, reqId),
      ...BY_REQUEST.map((field) => detailOf(draft.steps[step], field, reqId)),
    ]);
  return said(before) !== said(after);
}
