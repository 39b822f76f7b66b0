// @ts-check
/** The two other ways to change a scenario, as buttons in the schedule's header: the config form and the text. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { say } from '../view.js';

export class EditorTools extends HTMLElement {
  /**
   * @param {{t: import('../../core/i18n.js').Translate, isConfigOpen: boolean, isTextOpen: boolean, isConfigWrong:
   *   boolean, isTextUnread: boolean}} what
   */
  set tools({ t, isConfigOpen, isTextOpen, isConfigWrong, isTextUnread }) {
    const mark = (/** @type {boolean} */ isWrong, /** @type {string} */ words) =>
      isWrong ? html`<b class="bad" aria-hidden="true">!</b><span class="vh"> ${words}</span>` : nothing;
    render(
      html`<button type="button" class="btn" data-open-config aria-expanded=${isConfigOpen} aria-controls="config"
        @click=${() => say(this, 'config-toggle')}>${t('config.open')}${mark(isConfigWrong, t('config.is_wrong'))}</button>
        <button type="button" class="btn" data-open-text aria-expanded=${isTextOpen} aria-controls="text"
          @click=${() => say(this, 'text-toggle')}>${t('text.open')}${mark(isTextUnread, t('text.is_unread'))}</button>`,
      this,
    );
  }

  /** @param {'config' | 'text'} which */
  focusOn(which) {
    /** @type {HTMLElement | null} */ (this.querySelector(`[data-open-${which}]`))?.focus({ preventScroll: true });
  }
}

customElements.define('pw-editor-tools', EditorTools);
