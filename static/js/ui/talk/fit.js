// @ts-check
/**
 * How large a stage can be drawn so that all of it is in sight. The window says how large type should be for the back row; a
 * small stage is drawn larger than that, a large one somewhat smaller, and what still does not fit scrolls inside.
 */

/** At this size of the window type is `USUAL` times as large as on the board. */
const WINDOW = { width: 1280, height: 720 };
const USUAL = 1.8;
/** Tried in this order, times the usual size. */
const FACTORS = [1.5, 1.35, 1.2, 1.1, 1, 0.92, 0.85, 0.78];

/**
 * How many times larger type is than on the board, in a window of this size.
 * @param {{width: number, height: number}} size
 */
export function scaleFor({ width, height }) {
  return Math.max(1, Math.min(width / WINDOW.width, height / WINDOW.height) * USUAL);
}

/**
 * Sets `--zoom` on the element that holds the stage.
 * @param {HTMLElement} frame
 * @param {number} scale
 */
export function fitStage(frame, scale) {
  frame.toggleAttribute('data-roomy', false);
  /** @type {{zoom: number, tall: boolean, wide: boolean}[]} */
  const tried = [];
  for (const factor of FACTORS) {
    const zoom = Math.max(1, Math.round(scale * factor * 100) / 100);
    if (zoom === tried[tried.length - 1]?.zoom) break;
    setZoom(frame, zoom);
    const one = { zoom, tall: frame.scrollHeight > frame.clientHeight + 1, wide: isWide(frame) };
    tried.push(one);
    if (!one.tall && !one.wide) break;
  }
  const last = tried[tried.length - 1];
  // Where no size shows all of it: a long table scrolls sideways anyway, and need not be small as well.
  const best = last.tall || last.wide ? (tried.find(({ zoom, tall }) => zoom <= scale && !tall) ?? last) : last;
  if (best !== last) setZoom(frame, best.zoom);
  frame.toggleAttribute('data-roomy', true); // room for the second sentence?
  if (frame.scrollHeight > frame.clientHeight + 1) frame.toggleAttribute('data-roomy', false);
}

/** @param {HTMLElement} frame @param {number} zoom */
function setZoom(frame, zoom) {
  frame.style.setProperty('--zoom', String(zoom));
  // What is laid out by its width is as high as that says.
  for (const map of /** @type {NodeListOf<any>} */ (frame.querySelectorAll('.panel[data-current] :is(pw-kv, pw-pool)')))
    map.fit();
}

/** Whether a table of the stage is wider than its place. @param {HTMLElement} frame */
function isWide(frame) {
  return [
    ...frame.querySelectorAll('.panel[data-current] :is(pw-rows, pw-strip:not(.further > *)) > .scroll, .plan > .scroll'),
  ].some((scroller) => scroller.clientWidth > 0 && scroller.scrollWidth > scroller.clientWidth + 1);
}
