// @ts-check
/** What the page has to say about itself: the server is gone, the trace stopped. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { placeOf } from '../../core/scenario/edits.js';
import { brokenLink } from '../share/broken-link.js';
import { say } from '../view.js';

/** What the button says that opens the draft of a notice. @type {Record<string, string>} */
const RESTORE = { draft: 'notice.restore', elsewhere: 'notice.newer', differs: 'notice.link.open_draft' };

export class Notices extends HTMLElement {
  /** @param {import('../view.js').View} view */
  set view(view) {
    const { t } = view;
    const stopped = view.stopped;
    render(
      html`${
        stopped && view.index < stopped.step && view.mode === 'board'
          ? html`<p class="notice warn"
        data-notice="stopped"><b>${t('notice.stopped', { step: stopped.step })}</b> ${stopped.message}</p>`
          : nothing
      }
        ${view.mode !== 'board' && view.faults.length > 0 ? cannotRun(view) : nothing}
        ${view.notices.map((notice) => this.#notice(view, notice))}`,
      this,
    );
  }

  /** @param {import('../view.js').View} view @param {import('../view.js').View['notices'][number]} notice */
  #notice(view, notice) {
    if (notice.kind === 'link') return brokenLink(this, view, notice);
    const { t } = view;
    const { kind, message, again, draft } = notice;
    return html`<p class="notice ${again ? 'warn' : ''}" data-notice=${kind}>${message}
      ${
        again
          ? html`<button type="button" class="btn main" data-retry
        @click=${() => say(this, 'retry', { kind })}>${t('notice.retry')}</button>`
          : nothing
      }
      ${
        draft
          ? html`<button type="button" class="btn"
        @click=${() => say(this, 'restore', { kind, draft })}>${t(RESTORE[kind])}</button>`
          : nothing
      }
      ${
        again
          ? nothing
          : html`<button type="button" class="btn" aria-label=${t('notice.dismiss')}
        @click=${() => say(this, 'dismiss', { kind })}>×</button>`
      }</p>`;
  }
}

/**
 * Where there is no grid that would show it at its cell: why the schedule cannot be run.
 * @param {import('../view.js').View} view
 */
function cannotRun({ t, faults, draft, hasBoard }) {
  const [first, ...more] = faults;
  const { step } = placeOf(draft, first);
  const place = step === null ? '' : `${t('step.now', { step })}: `;
  const others = more.length > 0 ? t('notice.cannot_run.more', { n: more.length }) : nothing;
  const shown = hasBoard ? t('notice.cannot_run.shown') : nothing;
  return html`<p class="notice warn" data-notice="cannot-run"><span><b>${t('notice.cannot_run')}</b> ${place}${
    first.message
  } ${others} ${shown}</span></p>`;
}

customElements.define('pw-notices', Notices);
