// @ts-check
/** What the page has to say about itself: the server is gone, the trace stopped. */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { say } from './view.js';

export class Notices extends HTMLElement {
  /** @param {import('./view.js').View} view */
  set view(view) {
    const { t } = view;
    const stopped = view.stopped;
    render(
      html`${stopped && view.index < stopped.step ? html`<p class="notice warn" data-notice="stopped"><b>${t('notice.stopped', { step: stopped.step })}</b> ${stopped.message}</p>` : nothing}
        ${view.notices.map((notice) => this.#notice(view, notice))}`,
      this,
    );
  }

  /** @param {import('./view.js').View} view @param {import('./view.js').View['notices'][number]} notice */
  #notice({ t }, { kind, message, again }) {
    const open = kind === 'draft' || kind === 'elsewhere';
    return html`<p class="notice ${again ? 'warn' : ''}" data-notice=${kind}>${message}
      ${again ? html`<button type="button" class="btn main" data-retry @click=${() => say(this, 'retry')}>${t('notice.retry')}</button>` : nothing}
      ${open ? html`<button type="button" class="btn" @click=${() => say(this, 'restore', { kind })}>${t(kind === 'draft' ? 'notice.restore' : 'notice.newer')}</button>` : nothing}
      ${again ? nothing : html`<button type="button" class="btn" aria-label=${t('notice.dismiss')} @click=${() => say(this, 'dismiss', { kind })}>×</button>`}</p>`;
  }
}

customElements.define('pw-notices', Notices);
