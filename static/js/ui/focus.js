// @ts-check
/** The keyboard keeps a place on the page: whoever's place is gone after a drawing goes on at what is left around it. */

const TARGETS = ['.btn.main', 'button', 'a[href]', 'input', 'select', 'textarea', '[tabindex]'];

/**
 * Draws. What had the focus may be gone then: the element of the page that it was in takes it, else the board.
 * @param {() => void} draw
 */
export function keepFocus(draw) {
  const held = document.activeElement;
  const around = held?.closest('dialog, pw-question, pw-notices, pw-schedule, pw-board, pw-inspector, pw-config, pw-charts');
  draw();
  if (!held || held === document.body || document.activeElement !== document.body) return;
  const place = (around && targetIn(around)) ?? document.getElementById('board');
  place?.focus({ preventScroll: true });
}

/** @param {Element} around */
function targetIn(around) {
  for (const kind of TARGETS) {
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (around.querySelectorAll(kind))) {
      if (one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true })) return one;
    }
  }
  return null;
}
