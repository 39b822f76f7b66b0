// @ts-check
/** The keys of the page. Never while typing; keys of one character can be switched off (WCAG 2.1.4). */
import { hear, say } from '../../ui/view.js';
import { parseCellKey } from '../../core/trace/trace.js';

const SETTING = 'pagewalk.single-keys';
/** Keys of one character and what they do. */
const SINGLE = /** @type {Record<string, string>} */ ({ '?': 'help', '/': 'find', g: 'term', '[': 'back', ']': 'next' });

/**
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {import('../../core/i18n.js').Translate} t
 * @param {import('../../ui/page/help.js').HelpSheet} help
 * @param {(event: KeyboardEvent, singleKeys: boolean) => (() => unknown) | null} presenting  keys of present mode, which
 *   come first there
 */
export function connectKeys(bench, t, help, presenting) {
  const openHelp = () => help.open({ t, singleKeys: singleKeys() });
  for (const button of document.querySelectorAll('[data-help]')) button.addEventListener('click', openHelp);
  /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').HelpMessages>} */
  const handlers = { 'single-keys': ({ on }) => remember(on) };
  hear(document, handlers);
  document.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.querySelector('dialog[open]')) return;
    const field =
      target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
    if ((event.ctrlKey || event.metaKey) && !event.altKey) {
      const key = event.key.toLowerCase();
      if (key === 'k' && !event.shiftKey) {
        event.preventDefault();
        startFind();
      }
      return;
    }
    if (field || event.altKey) return;
    const talk = presenting(event, singleKeys());
    if (talk) {
      event.preventDefault();
      talk();
      return;
    }
    const single = SINGLE[event.key];
    if (single && singleKeys()) {
      event.preventDefault();
      if (single === 'help') openHelp();
      else if (single === 'find') startFind();
      else if (single === 'term') say(document, 'term', { term: null });
      else document.querySelector(/** @type {'button'} */ (`[data-element-${single}]`))?.click();
      return;
    }
    const run = action(bench, event, target);
    if (!run) return;
    event.preventDefault();
    run();
  });
}

/**
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {KeyboardEvent} event
 * @param {HTMLElement} target
 * @returns {(() => unknown) | null}
 */
function action(bench, event, target) {
  const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
  if (by !== 0) return event.shiftKey ? () => bench.step(by) : () => bench.walk(by);
  if (event.shiftKey) return null;
  if (event.key === 'Home') return () => bench.go({ stage: bench.schema.firstStage, step: 0 });
  if (event.key === 'End') return () => bench.go({ stage: bench.schema.lastStage, step: bench.course.head.numSteps - 1 });
  if (event.key === 'Escape') return () => bench.setPin(null);
  if (event.key === 'Enter' && target.dataset?.cell) {
    const cell = parseCellKey(target.dataset.cell);
    return cell ? () => bench.setPin({ ...cell, step: bench.index }) : null;
  }
  return null;
}

function startFind() {
  /** @type {import('../../ui/find/find.js').Find | null} */ (document.querySelector('pw-find'))?.start();
}

function singleKeys() {
  try {
    return localStorage.getItem(SETTING) !== 'off';
  } catch {
    return true; // storage is blocked: the default
  }
}

/** @param {boolean} on */
function remember(on) {
  try {
    localStorage.setItem(SETTING, on ? 'on' : 'off');
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}
