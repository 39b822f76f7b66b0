// @ts-check
/** The config form and the text view: two more ways to change the scenario, opened from the schedule's header. */
import { ConfigControl } from './config.js';
import { TextControl } from './text-view.js';
import '../../ui/config/config.js';
import '../../ui/schedule/editor-tools.js';
import '../../ui/text/view.js';

/**
 * @param {import('../state/workbench.js').Workbench} bench
 * @param {import('../../core/scenario/config-fields.js').Schema} format
 * @param {import('./text-view.js').OpenAs} openAs
 * @returns {(view: import('../../ui/view.js').View) => void} to be called whenever the page is drawn
 */
export function connectEditors(bench, format, openAs) {
  const form = /** @type {import('../../ui/config/config.js').ConfigForm} */ (document.querySelector('pw-config'));
  const config = new ConfigControl(bench, form, format);
  const text = new TextControl(
    bench,
    /** @type {import('../../ui/text/view.js').TextView} */ (document.querySelector('pw-text')),
    openAs,
  );
  return (view) => {
    form.view = view;
    text.draw(view);
    const tools = /** @type {import('../../ui/schedule/editor-tools.js').EditorTools | null} */ (
      document.querySelector('pw-editor-tools')
    );
    if (tools)
      tools.tools = {
        t: view.t,
        isConfigOpen: config.isOpen,
        isTextOpen: text.isOpen,
        isConfigWrong: config.isWrong,
        isTextUnread: text.isUnread,
      };
  };
}
