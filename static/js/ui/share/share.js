// @ts-check
/**
 * The share dialog: the link, what it takes, a short one on request, a code to photograph, and code for other pages.
 * Everything in it can be copied by a button, and read without one.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { closeBeside } from '../backdrop.js';
import { shows } from '../field.js';
import { say } from '../view.js';

/**
 * @typedef {object} Shared
 * @property {import('../../core/i18n.js').Translate} t
 * @property {string} title
 * @property {string | null} link  null: the scenario is too large for one
 * @property {boolean} isExample  the link names one, instead of holding the scenario
 * @property {number} length
 * @property {boolean} isLong  for chat programs
 * @property {boolean} withPlace
 * @property {string} place  in words
 * @property {string | null} short
 * @property {boolean} canShorten
 * @property {boolean} isMaking
 * @property {string} failure
 * @property {string | null} code  address of the QR code's picture
 * @property {string | null} embed
 * @property {string | null} preview
 * @property {string[]} sizes
 * @property {number} size
 * @property {number} width
 * @property {number} height
 * @property {string | null} markdown
 * @property {string | null} picture  Markdown with a picture
 * @property {string | null} handout
 */

export class Share extends HTMLElement {
  /** @type {Shared | null} */
  #shared = null;
  /** The field whose content is in the clipboard. */
  #copied = '';
  #isPreviewed = false;

  get isOpen() {
    return this.querySelector('dialog')?.open ?? false;
  }

  /** @param {Shared} shared */
  open(shared) {
    this.#isPreviewed = false;
    this.update(shared);
    const dialog = /** @type {HTMLDialogElement} */ (this.querySelector('dialog'));
    if (!dialog.open) dialog.showModal();
    const field = /** @type {HTMLInputElement | null} */ (this.querySelector('[data-field]'));
    field?.focus();
  }

  /** @param {Shared} shared */
  update(shared) {
    this.#shared = shared;
    this.#copied = '';
    this.#draw();
  }

  /** The button that made it is gone. */
  focusShort() {
    const field = /** @type {HTMLInputElement | null} */ (this.querySelector('[data-field=short]'));
    (field ?? /** @type {HTMLElement | null} */ (this.querySelector('[data-shorten]')))?.focus();
  }

  #draw() {
    const shared = /** @type {Shared} */ (this.#shared);
    const { t } = shared;
    render(
      html`<dialog class="share" aria-labelledby="share-title"
        @click=${closeBeside}>
        <div class="inside">
        <header><h2 id="share-title">${t('share.title')}</h2><form method="dialog"><button class="btn" data-close
          aria-label=${t('help.close')}>×</button></form></header>
        <div class="columns">
          <section aria-labelledby="share-link">
            <h3 id="share-link">${t('share.link')}</h3>
            ${
              shared.link
                ? this.#field('link', t('share.link'), shared.link)
                : html`<p
              class="wrong">${t('share.link.none')}</p>`
            }
            ${
              shared.link
                ? html`<p class="fits"
              data-fits=${shared.isLong ? 'no' : 'yes'}>${t(shared.isLong ? 'share.fits.not' : 'share.fits', { n: shared.length })}</p>`
                : nothing
            }
            <label class="switch"><input type="checkbox" data-place ${shows(shared.withPlace)}
              @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
                say(this, 'place', {
                  on: target.checked,
                })}> <span>${t('share.place')} <span class="soft">${shared.place}</span></span></label>
            <p class="soft">${t(shared.isExample ? 'share.private.example' : 'share.private')}</p>
            ${shared.canShorten || shared.short ? this.#short(shared) : nothing}
          </section>
          <figure class="qr">
            ${
              shared.code
                ? html`<img src=${shared.code} width="168" height="168"
              alt=${t(shared.short ? 'share.qr.short' : 'share.qr.link', { title: shared.title })}>`
                : html`<p class="soft"
              data-qr-none>${t(shared.canShorten ? 'share.qr.none' : 'share.qr.never')}</p>`
            }
            ${shared.code ? html`<figcaption>${t('share.qr')}</figcaption>` : nothing}
          </figure>
        </div>
        ${shared.embed ? this.#embed(shared) : nothing}
        ${
          shared.markdown
            ? html`<section aria-labelledby="share-markdown"><h3 id="share-markdown">${t('share.markdown')}</h3>
          ${this.#field('markdown', t('share.markdown'), shared.markdown)}
          ${
            shared.picture
              ? html`<p
            class="soft">${t('share.picture')}</p>${this.#field('picture', t('share.picture'), shared.picture)}`
              : nothing
          }</section>`
            : nothing
        }
        ${
          shared.handout
            ? html`<p class="also"><a href=${shared.handout} target="_blank"
          rel="noopener">${t('share.handout')}</a> <span class="soft">${t('share.handout.what')}</span></p>`
            : nothing
        }
        <p class="vh" role="status" data-copied>${this.#copied ? t('share.copied') : ''}</p>
        </div>
      </dialog>`,
      this,
    );
  }

  /** @param {Shared} shared */
  #short({ t, short, isMaking, failure }) {
    return html`<h3 id="share-short">${t('share.short')}</h3>
      ${
        short
          ? this.#field('short', t('share.short'), short)
          : html`<p><button type="button" class="btn edged" data-shorten aria-disabled=${isMaking ? 'true' : nothing}
            @click=${() => say(this, 'shorten')}>${t(isMaking ? 'share.short.making' : 'share.short.make')}</button></p>`
      }
      ${failure ? html`<p class="wrong" role="alert">${failure}</p>` : nothing}
      <p class="soft">${t(short ? 'share.short.kept' : 'share.short.what')}</p>`;
  }

  /** @param {Shared} shared */
  #embed({ t, embed, preview, sizes, size, width, height, title }) {
    return html`<section aria-labelledby="share-embed">
      <h3 id="share-embed">${t('share.embed')}</h3>
      ${this.#field('embed', t('share.embed'), embed ?? '')}
      <p class="row"><label>${t('share.size')} <select class="btn edged" data-size
        @change=${(/** @type {{target: HTMLSelectElement}} */ { target }) =>
          say(this, 'size', { size: Number(target.value) })}>${sizes.map(
          (one, place) => html`<option value=${place} ${shows(place === size)}>${one}</option>`,
        )}</select></label>
        <button type="button" class="btn edged" data-preview aria-expanded=${this.#isPreviewed ? 'true' : 'false'}
          @click=${() => this.#preview()}>${t(this.#isPreviewed ? 'share.preview.close' : 'share.preview')}</button></p>
      ${
        this.#isPreviewed && preview
          ? html`<div class="preview" role="group" aria-label=${t('share.preview')}><iframe
        src=${preview} title=${title} .width=${String(width)} .height=${String(height)}></iframe></div>`
          : nothing
      }
    </section>`;
  }

  /** @param {string} name @param {string} label @param {string} text */
  #field(name, label, text) {
    const { t } = /** @type {Shared} */ (this.#shared);
    const isCopied = this.#copied === name;
    return html`<p class="field"><input readonly data-field=${name} aria-label=${label} .value=${text}
      @focus=${(/** @type {FocusEvent} */ event) => all(/** @type {HTMLInputElement} */ (event.target))}>
      <button type="button" class="btn ${name === 'link' ? 'main' : 'edged'}" data-copy=${name}
        aria-label=${isCopied ? t('share.copied') : t('share.copy.what', { what: label })}
        @click=${() => this.#copy(name, text)}>${t(isCopied ? 'share.copied' : 'share.copy')}</button></p>`;
  }

  #preview() {
    this.#isPreviewed = !this.#isPreviewed;
    this.#draw();
  }

  /** @param {string} name @param {string} text */
  async #copy(name, text) {
    const field = /** @type {HTMLInputElement} */ (this.querySelector(`[data-field="${name}"]`));
    const isDone = await copied(text, field);
    this.#copied = isDone ? name : '';
    this.#draw();
  }
}

/** Selects it, with its beginning in sight. @param {HTMLInputElement} field */
function all(field) {
  field.setSelectionRange(0, field.value.length, 'backward');
  requestAnimationFrame(() => (field.scrollLeft = 0)); // after the browser has scrolled to the end
}

/**
 * Without a secure origin, as in a class room's own network, there is no clipboard but the old one.
 * @param {string} text
 * @param {HTMLInputElement} field
 */
async function copied(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const { activeElement } = document;
    field.focus();
    const isDone = document.execCommand('copy');
    if (isDone && activeElement instanceof HTMLElement) activeElement.focus();
    return isDone; // if not, it is selected: a key copies it
  }
}

customElements.define('pw-share', Share);
