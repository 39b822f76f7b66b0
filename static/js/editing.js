// @ts-check
/**
 * What an `edit` that an element speaks of makes of the draft: one pure function of `core` for each kind.
 */
import * as edits from './core/edits.js';
import { setEntry } from './core/entry.js';
import { roomFor } from './core/fill.js';

/** @typedef {import('./core/edits.js').Scenario} Scenario */

/** @param {Scenario} draft @param {any} what @returns {Scenario} */
export function changed(draft, what) {
  switch (what.kind) {
    case 'entry':
      return setEntry(draft, what.step, what.req_id, what.value);
    case 'prompt':
      return edits.setPromptLen(draft, what.request, what.value);
    case 'add-step':
      return edits.addStep(draft);
    case 'add-request':
      return edits.addRequest(draft, { step: what.step, count: roomFor(draft, what.step, edits.NEW_PROMPT, draft.config ?? {}) });
    case 'remove-step':
      return edits.removeStep(draft, what.step);
    case 'remove-request':
      return edits.removeRequest(draft, what.req_id);
    case 'fix':
      return edits.applyPatch(draft, what.patch ?? []);
    default:
      return draft;
  }
}
