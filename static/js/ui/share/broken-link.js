// @ts-check
/** A link that cannot be opened: why, what of its address is kept, and the ways on. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../view.js').Notice} Notice */

/** @param {EventTarget} from @param {View} view @param {Notice} notice */
export function brokenLink(from, view, notice) {
  const { t, mode } = view;
  const { kind, message, kept } = notice;
  return html`<section class="broken-link" data-notice=${kind} aria-label=${t('notice.link.title')}>
    <div class="what" role="alert">
      <p><b>${t('notice.link.title')}</b> ${message}</p>
      <p>${t('notice.link.nothing')} ${kept ? t('notice.link.kept', { what: kept }) : nothing}</p>
    </div>
    ${mode === 'embed' ? nothing : waysOn(from, view, notice)}
    <button type="button" class="btn close" aria-label=${t('notice.dismiss')}
      @click=${() => say(from, 'dismiss', { kind })}>×</button>
  </section>`;
}

/** @param {EventTarget} from @param {View} view @param {Notice} notice */
function waysOn(from, { t }, { kind, other }) {
  const open = (/** @type {Event} */ event) => {
    const field = /** @type {HTMLElement} */ (event.currentTarget).closest('section')?.querySelector('input');
    if (field?.value.trim()) say(from, 'link', { text: field.value });
    else field?.focus();
  };
  const onEnter = (/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && open(event);
  return html`<p class="again">
      <label for="broken-link">${t('notice.link.paste')}</label>
      <input id="broken-link" type="text" autocomplete="off" spellcheck="false" @keydown=${onEnter} />
      <button type="button" class="btn main" @click=${open}>${t('notice.link.open')}</button>
    </p>
    <p class="ways">${t('notice.link.or')}
      <button type="button" class="btn"
        @click=${() => say(from, 'link', { text: '?example=worked-example' })}>${t('notice.link.example')}</button>
      ${
        other
          ? html`<button type="button" class="btn"
        @click=${() => say(from, 'restore', { kind, draft: other.id })}>${t('notice.link.draft', { title: other.title })}</button>`
          : nothing
      }
    </p>`;
}
