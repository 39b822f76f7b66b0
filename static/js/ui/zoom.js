// @ts-check
/** What the style sheet magnifies: rectangles are measured in pixels of the window, everything else in an element's own. */

/** @param {Element} element @returns {number} pixels of the window in one of the element's own */
export function zoomOf(element) {
  return /** @type {Element & {currentCSSZoom?: number}} */ (element).currentCSSZoom ?? 1;
}
