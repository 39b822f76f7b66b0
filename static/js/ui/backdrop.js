// @ts-check
/**
 * A dialog closes where somebody presses beside it: what counts is where the press began, and that it was meant for the
 * dialog. The second press of a double click on what opened it is not.
 */

/** Milliseconds and pixels within which a second press belongs to the one before. */
const SOON = 500;
const NEAR = 24;

/** The dialog beside which the pointer went down last. @type {EventTarget | null} */
let pressed = null;
/** Where and when it went down before. */
let last = { at: -Infinity, x: 0, y: 0, target: /** @type {EventTarget | null} */ (null) };

addEventListener(
  'pointerdown',
  ({ target, timeStamp: at, clientX: x, clientY: y }) => {
    const isSecond = at - last.at < SOON && Math.hypot(x - last.x, y - last.y) < NEAR && target !== last.target;
    pressed = target instanceof HTMLDialogElement && !isSecond ? target : null;
    last = { at, x, y, target };
  },
  { capture: true, passive: true },
);

/** For the clicks of dialogs that a click beside them closes. @param {Event} event */
export function closeBeside({ target }) {
  if (target instanceof HTMLDialogElement && target === pressed) target.close();
}
