// @ts-check
/**
 * The board on paper: laid out as wide as the sheet, with tables that would be cut made smaller, black on white.
 *
 * In: the browser's beforeprint and afterprint. Out: `data-printing` on the root, which print.css reads, the light theme for
 * what is painted, and the line that says what the sheet shows. Nothing stays behind when it is printed.
 */

/** A table that would have to be smaller than this is cut, and says what of it is in sight: the handout has the rest. */
const LEAST = 0.5;

/**
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {import('../../core/i18n.js').Translate} t
 */
export function connectPrint(bench, t) {
  const root = document.documentElement;
  const line = /** @type {HTMLElement | null} */ (document.querySelector('[data-printed]'));
  /** @type {string | undefined} as it was on the screen */
  let theme;
  addEventListener('beforeprint', () => {
    root.toggleAttribute('data-printing', true);
    theme = root.dataset.theme;
    const isDark = theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    if (isDark) {
      root.dataset.theme = 'light';
      queueMicrotask(settleCanvases); // after those who paint have seen it
    }
    if (line)
      line.textContent = `${t('step.now', { step: bench.index })} · ${t(`stage.${bench.stage}`)} · ${t('inspector.vllm')}`;
    for (const scroller of scrollers()) {
      const fit = scroller.clientWidth / scroller.scrollWidth;
      scroller.toggleAttribute('data-fits', fit >= LEAST);
      if (fit < 1 && fit >= LEAST) scroller.querySelector('table')?.style.setProperty('zoom', String(fit * 0.98)); // glyphs are not smaller to the same degree
    }
  });
  addEventListener('afterprint', () => {
    root.toggleAttribute('data-printing', false);
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const scroller of scrollers()) scroller.querySelector('table')?.style.removeProperty('zoom');
  });
}

/** What was painted just now comes onto the sheet as one picture only: Chromium prints the strokes of it in part. */
function settleCanvases() {
  for (const canvas of document.querySelectorAll('canvas')) {
    const context = canvas.getContext('2d');
    const { width, height } = canvas;
    if (!context || width === 0 || height === 0) continue;
    const copy = new OffscreenCanvas(width, height);
    copy.getContext('2d')?.drawImage(canvas, 0, 0);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalCompositeOperation = 'copy';
    context.drawImage(copy, 0, 0);
    context.restore();
  }
}

/** @returns {NodeListOf<HTMLElement>} */
function scrollers() {
  return document.querySelectorAll('.workbench .scroll');
}
