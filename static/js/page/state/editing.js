// @ts-check
/**
 * What an `edit` that an element speaks of makes of the draft: one pure function of `core` for each kind.
 */
import * as arrange from '../../core/scenario/arrange.js';
import { clearBlock, pasteBlock } from '../../core/scenario/clipboard.js';
import * as details from '../../core/scenario/details.js';
import * as edits from '../../core/scenario/edits.js';
import { setEntry } from '../../core/scenario/entry.js';
import { repaired } from '../../core/scenario/repair.js';
import { decodeAll, roomFor, runRequests } from '../../core/scenario/fill.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */
/** @typedef {import('../../ui/messages.js').Edit} Edit */

/**
 * @param {Scenario} draft
 * @param {Edit} edit
 * @returns {Scenario} the same draft where the edit can change nothing
 */
export function changed(draft, edit) {
  switch (edit.kind) {
    case 'entry':
      return setEntry(draft, edit.step, edit.req_id, edit.value);
    case 'prompt':
      return edits.setPromptLen(draft, edit.request, edit.value);
    case 'paste':
      return pasteBlock(draft, edit.at, edit.block).draft;
    case 'clear':
      return clearBlock(draft, edit.at);
    case 'fix':
      return repaired(draft, edit.faults);

    case 'add-request': {
      const count = roomFor(draft, edit.step, edits.NEW_PROMPT, draft.config ?? {});
      return edits.addRequest(draft, { step: edit.step, count });
    }
    case 'remove-request':
      return edits.removeRequest(draft, edit.req_id);
    case 'move-request':
      return arrange.moveRequest(draft, edit.row, edit.by);
    case 'duplicate-request':
      return arrange.duplicateRequest(draft, edit.row);
    case 'rename':
      return arrange.renameRequest(draft, edit.row, edit.text.trim());

    case 'add-step':
      return edits.addStep(draft);
    case 'remove-step':
      return edits.removeStep(draft, edit.step);
    case 'insert-step':
      return arrange.insertStep(draft, edit.step);
    case 'duplicate-step':
      return arrange.duplicateStep(draft, edit.step);
    case 'move-step':
      return arrange.moveStep(draft, edit.step, edit.by);
    case 'start-step':
      return arrange.starting(draft, edit.step);
    case 'order':
      return arrange.moveInOrder(draft, edit.step, edit.req_id, edit.by);
    case 'order-as-rows':
      return arrange.orderAsRows(draft, edit.step);

    case 'run': {
      const { kind: _kind, req_ids, ...filling } = edit;
      return runRequests(draft, req_ids, filling);
    }
    case 'decode-all':
      return decodeAll(draft, edit);

    case 'drafts':
      return details.setDrafts(draft, edit.step, edit.req_id, edit.text);
    case 'accepted':
      return details.setAccepted(draft, edit.step, edit.req_id, edit.text);
    case 'sampled':
      return edits.setDetail(draft, edit.step, edit.req_id, 'sampled_token_ids', details.readIds(edit.text));
    case 'hit':
      return edits.setDetail(draft, edit.step, edit.req_id, 'num_computed_tokens', details.readNumber(edit.text));
    case 'blocks': {
      const { step, req_id, group, num_groups, given, text } = edit;
      const said = edits.detailOf(draft.steps[step], 'new_block_ids', req_id);
      const blocks = details.withGroup(said, group, details.readBlocks(text), num_groups, given);
      return edits.setDetail(draft, step, req_id, 'new_block_ids', blocks);
    }

    case 'prompt-text':
      return details.setPrompt(draft, edit.row, edit.text);
    case 'initial':
      return details.setInitial(draft, edit.row, edit.checked);
    case 'initial-computed':
      return details.setInitialField(draft, edit.row, 'num_computed_tokens', details.readNumber(edit.text));
    case 'initial-outputs':
      return details.setInitialField(draft, edit.row, 'output_token_ids', details.readIds(edit.text));
    case 'initial-row':
      return details.setInitialField(draft, edit.row, 'req_state_idx', details.readNumber(edit.text));
    case 'initial-blocks': {
      const said = draft.requests[edit.row]?.initial?.block_ids;
      const blocks = details.withGroup(said, edit.group, details.readBlocks(edit.text), edit.num_groups, []);
      return details.setInitialField(draft, edit.row, 'block_ids', blocks);
    }

    case 'title':
    case 'description':
      return edits.setText(draft, edit.kind, edit.text.trim());
    case 'config':
      return edit.change(draft);

    default: {
      /** @type {never} */
      const unknown = edit;
      throw new Error(`no such edit: ${JSON.stringify(unknown)}`);
    }
  }
}
