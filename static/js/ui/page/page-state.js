// @ts-check
/**
 * What the page around the elements says of its state: attributes for the style sheets, the title, whether a draft is
 * kept.
 */

/** @typedef {import('../view.js').View} View */

/** Milliseconds. Another pointer styles the whole page anew, and most answers come at once. */
const LATE = 1000;
let late = 0;

/** @param {HTMLElement} root @param {View} view */
export function drawState(root, view) {
  const { t } = view;
  root.dataset.step = String(view.index);
  root.dataset.stage = view.stage;
  root.toggleAttribute('data-stale', view.isStale);
  root.toggleAttribute('data-pending', view.isStale && view.faults.length === 0);
  root.toggleAttribute('data-busy', view.busy);
  sayLate(root, view.busy);
  root.setAttribute('data-ready', '');
  const title = view.draft.title || t(view.isNothing ? 'scenario.nothing' : 'scenario.untitled');
  for (const element of document.querySelectorAll('[data-title]')) write(element, title);
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-edited]')))
    element.hidden = !view.isEdited;
  for (const element of document.querySelectorAll('[data-kept]')) {
    write(element, t(view.isKept ? 'scenario.kept' : 'scenario.not_kept'));
    element.toggleAttribute('data-lost', !view.isKept);
  }
  const name = `${title} · PageWalk`;
  if (document.title !== name) document.title = name;
}

/** The same words once more would be laid out once more. @param {Element} element @param {string} words */
function write(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/**
 * The pointer says so while an answer is awaited that does not come at once.
 * @param {HTMLElement} root
 * @param {boolean} isBusy
 */
function sayLate(root, isBusy) {
  if (isBusy === late > 0) return;
  clearTimeout(late);
  late = isBusy ? setTimeout(() => root.setAttribute('data-late', ''), LATE) : 0;
  if (!isBusy) root.removeAttribute('data-late');
}
