// @ts-check
/**
 * What an `edit` that an element speaks of makes of the draft: one pure function of `core` for each kind.
 */
import * as arrange from '../../core/scenario/arrange.js';
import { clearBlock, pasteBlock } from '../../core/scenario/clipboard.js';
import * as details from '../../core/scenario/details.js';
import * as edits from '../../core/scenario/edits.js';
import { setEntry } from '../../core/scenario/entry.js';
import { decodeAll, roomFor, runRequests } from '../../core/scenario/fill.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */

/** @type {Record<string, (draft: Scenario, what: any) => Scenario>} */
const KINDS = {
  entry: (draft, { step, req_id, value }) => setEntry(draft, step, req_id, value),
  prompt: (draft, { request, value }) => edits.setPromptLen(draft, request, value),
  paste: (draft, { at, block }) => pasteBlock(draft, at, block).draft,
  clear: (draft, { at }) => clearBlock(draft, at),
  fix: (draft, { patch }) => edits.applyPatch(draft, patch ?? []),

  'add-request': (draft, { step }) =>
    edits.addRequest(draft, { step, count: roomFor(draft, step, edits.NEW_PROMPT, draft.config ?? {}) }),
  'remove-request': (draft, { req_id }) => edits.removeRequest(draft, req_id),
  'move-request': (draft, { row, by }) => arrange.moveRequest(draft, row, by),
  'duplicate-request': (draft, { row }) => arrange.duplicateRequest(draft, row),
  rename: (draft, { row, text }) => arrange.renameRequest(draft, row, text.trim()),

  'add-step': (draft) => edits.addStep(draft),
  'remove-step': (draft, { step }) => edits.removeStep(draft, step),
  'insert-step': (draft, { step }) => arrange.insertStep(draft, step),
  'duplicate-step': (draft, { step }) => arrange.duplicateStep(draft, step),
  'move-step': (draft, { step, by }) => arrange.moveStep(draft, step, by),
  'start-step': (draft, { step }) => arrange.starting(draft, step),
  order: (draft, { step, req_id, by }) => arrange.moveInOrder(draft, step, req_id, by),

  run: (draft, { req_ids, ...filling }) => runRequests(draft, req_ids, filling),
  'decode-all': (draft, where) => decodeAll(draft, where),

  drafts: (draft, { step, req_id, text }) => details.setDrafts(draft, step, req_id, text),
  accepted: (draft, { step, req_id, text }) => details.setAccepted(draft, step, req_id, text),
  sampled: (draft, { step, req_id, text }) =>
    edits.setDetail(draft, step, req_id, 'sampled_token_ids', details.readIds(text)),
  hit: (draft, { step, req_id, text }) =>
    edits.setDetail(draft, step, req_id, 'num_computed_tokens', details.readNumber(text)),
  blocks: (draft, { step, req_id, group, num_groups, given, text }) => {
    const said = edits.detailOf(draft.steps[step], 'new_block_ids', req_id);
    return edits.setDetail(
      draft,
      step,
      req_id,
      'new_block_ids',
      details.withGroup(said, group, details.readBlocks(text), num_groups, given),
    );
  },

  'prompt-text': (draft, { row, text }) => details.setPrompt(draft, row, text),
  initial: (draft, { row, checked }) => details.setInitial(draft, row, checked),
  'initial-computed': (draft, { row, text }) =>
    details.setInitialField(draft, row, 'num_computed_tokens', details.readNumber(text)),
  'initial-outputs': (draft, { row, text }) =>
    details.setInitialField(draft, row, 'output_token_ids', details.readIds(text)),
  'initial-row': (draft, { row, text }) => details.setInitialField(draft, row, 'req_state_idx', details.readNumber(text)),
  'initial-blocks': (draft, { row, group, num_groups, text }) => {
    const said = draft.requests[row]?.initial?.block_ids;
    return details.setInitialField(
      draft,
      row,
      'block_ids',
      details.withGroup(said, group, details.readBlocks(text), num_groups, []),
    );
  },

  title: (draft, { text }) => edits.setText(draft, 'title', text.trim()),
  description: (draft, { text }) => edits.setText(draft, 'description', text.trim()),
};

/** @param {Scenario} draft @param {any} what @returns {Scenario} */
export function changed(draft, what) {
  return KINDS[what.kind]?.(draft, what) ?? draft;
}
