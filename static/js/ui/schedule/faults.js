// @ts-check
/** The repair of a value that cannot be, which one click applies. */
import { pointerKeys } from '../../core/scenario/edits.js';
import { isRepairOf } from '../../core/scenario/repair.js';

/** @typedef {import('../view.js').Fault} Fault */

/**
 * Label of the repair button; '' where the server suggests none, or what it suggests is of something that is no longer so.
 * @param {import('../view.js').View} view
 * @param {Fault} fault
 */
export function repairs(view, fault) {
  if (!isRepairOf(view.draft, fault)) return '';
  const [first, ...more] = fault.fix ?? [];
  const [steps, step, field, place] = pointerKeys(first.path);
  const isCount = steps === 'steps' && field === 'num_scheduled_tokens';
  if (more.length === 0 && first.op === 'remove') return view.t(isCount ? 'repair.unschedule' : 'repair.remove');
  const simple =
    more.length === 0 && first.op !== 'remove' && (typeof first.value === 'number' || typeof first.value === 'string');
  if (!simple) return view.t('repair.apply');
  // What is wrong with a whole step is repaired at one request: say which.
  const req_id =
    isCount && fault.params?.req_id === undefined
      ? (fault.of ?? view.draft).steps[Number(step)]?.num_scheduled_tokens?.[Number(place)]?.[0]
      : undefined;
  // A text that would be taken for something else is shown as one.
  const value =
    typeof first.value === 'string' && /^(?:-?\d+|true|false|null|)$/.test(first.value) ? `"${first.value}"` : first.value;
  return req_id === undefined ? view.t('repair.use', { value }) : view.t('repair.use_for', { req_id, value: first.value });
}
