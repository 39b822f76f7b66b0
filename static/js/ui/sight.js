// @ts-check
/** Scrolling something into sight, as little as it takes. */

/** What the rail covers above and the formula below. */
const COVERED = { top: 64, bottom: 56 };

/**
 * @param {Element | null | undefined} element
 * @param {ScrollIntoViewOptions} how
 */
export function showElement(element, how) {
  if (!element) return;
  if (parent === window) {
    element.scrollIntoView(how);
    return;
  }
  // Inside a frame the page around it must stay where its reader is.
  const { top, bottom } = element.getBoundingClientRect();
  if (top < COVERED.top) scrollBy({ top: top - COVERED.top, behavior: how.behavior });
  else if (bottom > innerHeight - COVERED.bottom)
    scrollBy({ top: Math.min(top - COVERED.top, bottom - innerHeight + COVERED.bottom), behavior: how.behavior });
}
