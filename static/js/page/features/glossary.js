// @ts-check
/** The glossary and the workbench: fetched once, opened by words, a button or a key, and the way back to the board. */
import { hear } from '../../ui/view.js';
import { Problem, Unreachable } from '../api.js';

/**
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {import('../../core/i18n.js').Translate} t
 */
export function connectGlossary(bench, t) {
  const box = /** @type {import('../../ui/glossary/glossary.js').Glossary} */ (document.querySelector('pw-glossary'));
  /** @type {import('../../core/glossary.js').Term[] | null} */
  let terms = null;
  box.axisOf = (dim) => bench.schema.axisOf(dim);
  box.isHere = (space) => (bench.trace.step(bench.index).space(space)?.size ?? 0) > 0;
  const open = async (/** @type {string | null} */ term) => {
    try {
      terms ??= await bench.api.glossary();
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
      bench.notice('glossary', t('notice.glossary'), { again: () => open(term) });
      return;
    }
    bench.dismiss('glossary');
    if (terms) box.open({ terms, t, term });
  };
  /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').GlossaryMessages>} */
  const handlers = {
    term: ({ term }) => open(term ?? bench.look()?.space ?? null),
    show: (what) => show(bench, what),
  };
  hear(document, handlers);
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('[data-term]') : null;
    if (link instanceof HTMLElement) open(link.dataset.term || null);
  });
}

/**
 * Goes to the stage, and pins the first cell of the tensor there.
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {{stage: string, space: string | null}} what
 */
async function show(bench, { stage, space }) {
  const values = space ? bench.trace.step(bench.index).space(space) : null;
  if (space && values && bench.pin?.space !== space) await bench.setPin({ space, at: values.at(0), step: bench.index });
  await bench.go({ stage });
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const panel = document.querySelector(`.panel[data-stage="${stage}"]`);
      const cell = space ? /** @type {HTMLElement | null} */ (panel?.querySelector(`[data-cell^="${space}."]`)) : null;
      (cell ?? panel)?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      cell?.focus({ preventScroll: true });
    }),
  );
}
