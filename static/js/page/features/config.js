// @ts-check
/** Opens and closes the config form; what it changes are edits like any other. */
import { hear } from '../../ui/view.js';

/** @typedef {import('../../ui/config/config.js').ConfigForm} Form */

export class ConfigControl {
  /**
   * @param {import('../state/workbench.js').Workbench} bench
   * @param {Form} form
   * @param {import('../../core/scenario/config-fields.js').Schema} schema
   */
  constructor(bench, form, schema) {
    this.bench = bench;
    this.form = form;
    form.schema = schema;
    /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').ConfigMessages>} */
    const handlers = {
      'config-toggle': () => (this.isOpen ? this.close() : this.open()),
      'config-close': () => this.close(),
    };
    hear(document, handlers);
  }

  get isOpen() {
    return !this.form.hidden;
  }

  /** Something wrong is in the form, whether it is open or not. */
  get isWrong() {
    return this.bench.faults.some(({ where }) => /^\/(?:config|start_step|strict|title|description)(?:\/|$)/.test(where));
  }

  open() {
    this.form.hidden = false;
    this.form.view = this.bench.view();
    this.form.focusTitle();
    this.bench.redraw();
  }

  close() {
    if (!this.isOpen) return;
    const hadFocus = this.form.contains(document.activeElement) || document.activeElement === document.body;
    this.form.hidden = true;
    this.bench.redraw();
    if (hadFocus)
      /** @type {import('../../ui/schedule/editor-tools.js').EditorTools | null} */ (
        document.querySelector('pw-editor-tools')
      )?.focusOn('config');
  }
}
