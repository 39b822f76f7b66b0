// @ts-check
/** What a text means for the draft: whether it says it, and what is wrong where. */
import { canonical } from '../../core/scenario/compact.js';
import { toDraft } from '../../core/scenario/edits.js';
import { hasOutline } from '../../core/scenario/outline.js';
import { documentOf, lineColumn, placeIn } from '../../core/text/text-tree.js';
import { repairs } from '../../ui/schedule/faults.js';

/** @typedef {import('../../core/text/text-tree.js').Reading} Reading */
/** @typedef {import('../../ui/view.js').Fault} Fault */

/** Faults of a key, not of its value. */
const OF_KEYS = ['unknown_key', 'duplicate_key'];

/**
 * Whether the text says this draft, however it is written.
 * @param {import('../../core/scenario/format.js').Format} format
 * @param {Reading} reading
 * @param {import('../../core/scenario/edits.js').Scenario} draft
 */
export function says(format, { root }, draft) {
  const document = root && documentOf(root);
  return hasOutline(document) && canonical(format, toDraft(document)) === canonical(format, draft);
}

/**
 * What keeps the text from being read, or else what the server finds wrong in what it says.
 * @param {import('../../ui/view.js').View} view
 * @param {string} text
 * @param {Reading} reading
 * @param {readonly Fault[]} refusals
 * @param {boolean} isNoDraft
 * @returns {import('../../ui/text/view.js').Trouble[]}
 */
export function troublesOf(view, text, { root, faults }, refusals, isNoDraft) {
  if (!root)
    return faults.map(({ from, to, key, params }) => ({
      from,
      to,
      line: lineColumn(text, from).line,
      message: view.t(key, params),
      code: key,
      repair: '',
    }));
  const canRepair = !isNoDraft || canPatch(documentOf(root));
  return refusals.map((fault) => {
    const place = placeIn(root, fault.where, OF_KEYS.includes(fault.code));
    return {
      ...place,
      line: lineColumn(text, place.from).line,
      message: fault.message,
      code: fault.code,
      repair: canRepair ? repairs(view, fault) : '',
    };
  });
}

/** Whether a repair can be tried on it. @param {any} document */
function canPatch(document) {
  const { steps } = document ?? {};
  return steps === undefined || (Array.isArray(steps) && steps.every((step) => typeof step === 'object' && step !== null));
}
