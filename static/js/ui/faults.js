// @ts-check
/** The repair of a value that cannot be, which one click applies. */

/** @typedef {import('./view.js').Fault} Fault */

/**
 * Label of the repair button, '' where the server suggests none.
 * @param {import('./view.js').View} view
 * @param {Fault} fault
 */
export function repairs(view, fault) {
  const [first, ...more] = fault.fix ?? [];
  if (!first) return '';
  const simple = more.length === 0 && first.op !== 'remove' && (typeof first.value === 'number' || typeof first.value === 'string');
  if (simple) return view.t('repair.use', { value: first.value });
  if (more.length === 0 && first.op === 'remove') return view.t('repair.remove');
  return view.t('repair.apply');
}
