// @ts-check
/**
 * The board on paper: laid out as wide as the sheet, with tables that would be cut made smaller.
 *
 * In: the browser's beforeprint and afterprint. Out: `data-printing` on the root, which print.css reads, and the line
 * that says what the sheet shows. Nothing stays behind when it is printed.
 */

/** A table that would have to be smaller than this is cut, and says what of it is in sight: the handout has the rest. */
const LEAST = 0.5;

/**
 * @param {import('./workbench.js').Workbench} bench
 * @param {import('./core/i18n.js').Translate} t
 */
export function connectPrint(bench, t) {
  const root = document.documentElement;
  const line = /** @type {HTMLElement | null} */ (document.querySelector('[data-printed]'));
  addEventListener('beforeprint', () => {
    root.toggleAttribute('data-printing', true);
    if (line) line.textContent = `${t('step.now', { step: bench.index })} · ${t(`stage.${bench.stage}`)} · ${t('inspector.vllm')}`;
    for (const scroller of scrollers()) {
      const fit = scroller.clientWidth / scroller.scrollWidth;
      scroller.toggleAttribute('data-fits', fit >= LEAST);
      if (fit < 1 && fit >= LEAST) scroller.querySelector('table')?.style.setProperty('zoom', String(fit * 0.98)); // glyphs are not smaller to the same degree
    }
  });
  addEventListener('afterprint', () => {
    root.toggleAttribute('data-printing', false);
    for (const scroller of scrollers()) scroller.querySelector('table')?.style.removeProperty('zoom');
  });
}

/** @returns {NodeListOf<HTMLElement>} */
function scrollers() {
  return document.querySelectorAll('.workbench .scroll');
}
