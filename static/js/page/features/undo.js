// @ts-check
/**
 * Undo and redo, by keys and by the browser's menu: of what is being typed first, then of the draft. Never the browser's own,
 * which knows fields and not the draft: it would put a number into a cell that the draft has another for.
 */
import { travelTyped } from '../../ui/field.js';
import { say } from '../../ui/view.js';

export function connectUndo() {
  document.addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !(key === 'z' || key === 'y')) return;
    travel(event, key === 'y' || event.shiftKey ? 1 : -1);
  });
  document.addEventListener('beforeinput', (event) => {
    if (event.inputType === 'historyUndo') travel(event, -1);
    else if (event.inputType === 'historyRedo') travel(event, 1);
  });
}

/** @param {Event} event @param {1 | -1} by */
function travel(event, by) {
  if (/** @type {HTMLElement} */ (event.target).shadowRoot) return; // the text editor's own
  event.preventDefault();
  if (travelTyped(event.target, by) || document.querySelector('dialog[open]')) return;
  say(document, by < 0 ? 'undo' : 'redo');
}
