// @ts-check
/** What the page has to say about itself: the board is not the draft's, the server is gone, the trace stopped. */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { say } from './view.js';

export class Notices extends HTMLElement {
  /** @param {import('./view.js').View} view */
  set view(view) {
    const { t } = view;
    const stopped = view.stopped;
    render(
      html`${view.faults.length > 0 ? html`<p class="notice warn" data-notice="last-valid">${t(view.hasBoard ? 'notice.last_valid' : 'notice.not_yet')} ${view.hasBoard ? html`<button type="button" class="btn" @click=${() => say(this, 'revert')}>${t('notice.revert')}</button>` : nothing}</p>` : nothing}
        ${stopped && view.index < stopped.step ? html`<p class="notice warn" data-notice="stopped"><b>${t('notice.stopped', { step: stopped.step })}</b> ${stopped.message}</p>` : nothing}
        ${view.notices.map((notice) => html`<p class="notice ${notice.kind === 'offline' ? 'warn' : ''}" data-notice=${notice.kind}>${notice.message}${notice.kind === 'offline' ? html` <button type="button" class="btn" @click=${() => say(this, 'retry')}>${t('notice.retry')}</button>` : nothing}${notice.kind === 'draft' ? html` <button type="button" class="btn" @click=${() => say(this, 'restore')}>${t('notice.restore')}</button>` : nothing} ${notice.kind !== 'offline' ? html`<button type="button" class="btn" aria-label=${t('notice.dismiss')} @click=${() => say(this, 'dismiss', { kind: notice.kind })}>×</button>` : nothing}</p>`)}`,
      this,
    );
  }
}

customElements.define('pw-notices', Notices);
