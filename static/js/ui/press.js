// @ts-check
/**
 * Nothing on the page moves between the press of a pointer and its release: what was pressed is what is clicked. Whoever
 * draws waits for the release; in fields, which take no click, nothing waits.
 */

/** What waits, each once. @type {Set<() => void>} */
const waiting = new Set();
let isDown = false;
/** Behind the release comes the click, in the same task. */
let soon = 0;

export function isHeld() {
  return isDown;
}

/** Now, or once the pointer is released; asked for again before that, once. @param {() => void} run */
export function whenReleased(run) {
  if (isDown) waiting.add(run);
  else run();
}

/** @param {PointerEvent | MouseEvent} event */
function pressed({ button, target }) {
  if (button !== 0) return;
  clearTimeout(soon);
  isDown = target instanceof Element && target.closest('input, select, textarea') === null;
}

function released() {
  clearTimeout(soon);
  isDown = false;
  for (const run of [...waiting]) {
    waiting.delete(run);
    run();
  }
}

const passive = { capture: true, passive: true };
for (const type of /** @type {const} */ (['pointerdown', 'mousedown'])) addEventListener(type, pressed, passive);
for (const type of /** @type {const} */ (['pointerup', 'mouseup', 'pointercancel'])) {
  addEventListener(
    type,
    () => {
      clearTimeout(soon);
      soon = setTimeout(released);
    },
    passive,
  );
}
// Whoever hears the click may draw; what waited comes after that.
addEventListener('click', () => (isDown = false), passive);
addEventListener('click', released);
// A release that nobody was told of: on a scroll bar, outside the window.
addEventListener('pointermove', ({ buttons }) => isDown && (buttons & 1) === 0 && released(), passive);
addEventListener('keydown', released, { capture: true });
addEventListener('blur', released);
