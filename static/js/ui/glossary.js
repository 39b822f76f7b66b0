// @ts-check
/**
 * The glossary: what each space, index, stage and concept is, what others call it, what it is mistaken for.
 *
 * It is given its terms when it is first opened; until then it says that they are on their way.
 */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { named } from './names.js';
import { say } from './view.js';

/** @typedef {{file: string, symbol: string}} Symbol */
/**
 * @typedef {object} Term
 * @property {string} term
 * @property {'stage' | 'space' | 'dim' | 'concept'} kind
 * @property {string} name
 * @property {string | null} words
 * @property {boolean} is_code
 * @property {string} definition
 * @property {string | null} confusion
 * @property {{name: string, whose: string}[]} also
 * @property {string[]} related
 * @property {Symbol | null} vllm
 * @property {{dims: string[], dtype: string, stage: string, holds: string | null, exactness: string} | null} space
 * @property {Record<string, string[]>} spaces
 */

const KINDS = /** @type {const} */ (['stage', 'dim', 'space', 'concept']);

export class Glossary extends HTMLElement {
  /** @type {import('../core/i18n.js').Translate} */
  #t = (key) => key;
  /** @type {Map<string, Term>} */
  #terms = new Map();
  #message = '';
  #shown = '';
  #filter = '';

  /** @param {import('../core/i18n.js').Translate} t @param {string} term what to show first, '' for the list alone */
  open(t, term) {
    this.#t = t;
    this.#shown = term;
    this.#filter = '';
    this.#draw();
    const dialog = this.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    if (this.#terms.size === 0) say(this, 'glossary-wanted');
    this.#reveal();
  }

  /** @param {Term[]} terms */
  set terms(terms) {
    this.#terms = new Map(terms.map((term) => [term.term, term]));
    this.#message = '';
    this.#draw();
    this.#reveal();
  }

  /** @param {string} message why there are no terms */
  set message(message) {
    this.#message = message;
    this.#draw();
  }

  #reveal() {
    this.querySelector('.terms [aria-current]')?.scrollIntoView({ block: 'nearest' });
    const entry = this.querySelector('.entry');
    if (entry) entry.scrollTop = 0;
  }

  /** @param {string} term */
  #show(term) {
    this.#shown = term;
    this.#draw();
    this.#reveal();
  }

  #draw() {
    const t = this.#t;
    const term = this.#terms.get(this.#shown);
    render(
      html`<dialog class="glossary" aria-labelledby="glossary-title">
        <header><h2 id="glossary-title">${t('glossary_sheet.title')}</h2>
          <input type="search" placeholder=${t('glossary_sheet.filter')} aria-label=${t('glossary_sheet.filter')} .value=${this.#filter} @input=${(/** @type {Event} */ event) => this.#typed(event)}>
          <form method="dialog"><button class="btn main">${t('help.close')}</button></form></header>
        ${this.#terms.size === 0
          ? html`<p class="entry">${this.#message || t('page.loading')}</p>`
          : html`<div class="both"><nav class="terms" aria-label=${t('glossary_sheet.title')}>${this.#list()}</nav>
              <article class="entry" tabindex="0">${term ? this.#entry(term) : html`<p>${t('glossary_sheet.how')}</p>`}</article></div>`}
      </dialog>`,
      this,
    );
  }

  /** @param {Event} event */
  #typed(event) {
    this.#filter = /** @type {HTMLInputElement} */ (event.target).value;
    const [first] = this.#matching();
    if (this.#filter.trim() !== '' && first) this.#shown = first.term;
    this.#draw();
    this.#reveal();
  }

  /** Terms whose own or other names hold what was typed; a name that begins with it comes first. */
  #matching() {
    const wanted = this.#filter.trim().toLowerCase();
    const all = [...this.#terms.values()];
    if (wanted === '') return all;
    const names = (/** @type {Term} */ term) => [term.term, term.name, term.words ?? '', ...term.also.map(({ name }) => name)].map((name) => name.toLowerCase());
    const rank = (/** @type {Term} */ term) => (names(term).some((name) => name === wanted) ? 0 : names(term).some((name) => name.startsWith(wanted)) ? 1 : 2);
    return all.filter((term) => names(term).some((name) => name.includes(wanted))).sort((a, b) => rank(a) - rank(b));
  }

  #list() {
    const t = this.#t;
    const matching = this.#matching();
    if (matching.length === 0) return html`<p class="none">${t('glossary_sheet.none', { query: this.#filter.trim() })}</p>`;
    return KINDS.map((kind) => {
      const terms = matching.filter((term) => term.kind === kind);
      return terms.length > 0 ? html`<h3>${t(`glossary_sheet.${kind}`)}</h3><ul>${terms.map((term) => html`<li>${this.#link(term.term)}</li>`)}</ul>` : nothing;
    });
  }

  /** @param {string} name */
  #link(name) {
    const term = this.#terms.get(name);
    if (!term) return html`<span>${name}</span>`;
    return html`<button type="button" class="term" data-entry=${name} aria-current=${name === this.#shown ? 'true' : nothing} @click=${() => this.#show(name)}>${label(term)}</button>`;
  }

  /** @param {Term} term */
  #entry(term) {
    const t = this.#t;
    const links = (/** @type {string} */ title, /** @type {string[]} */ names) => (names.length > 0 ? html`<h4>${title}</h4><p class="links">${names.map((name) => this.#link(name))}</p>` : nothing);
    return html`<h3 data-term-shown=${term.term}>${label(term)}${term.words ? html` <span class="words">${term.words}</span>` : nothing}</h3>
      <p>${term.definition}</p>
      ${term.confusion ? html`<p class="confusion">${term.confusion}</p>` : nothing}
      ${term.space
        ? html`<p class="facts"><code>${term.space.dtype} [${term.space.dims.join(', ')}]</code> <span class="label" title=${t(`exactness.${term.space.exactness}.what`)}>${t(`exactness.${term.space.exactness}`)}</span>${term.space.holds ? html` ${t('glossary_sheet.holds')} ${this.#link(term.space.holds)}` : nothing}</p>`
        : nothing}
      ${term.vllm ? html`<p class="facts">${t('inspector.vllm')} · ${term.vllm.file.replace(/^vllm\/v1\//, '')} · <code>${term.vllm.symbol}</code></p>` : nothing}
      ${term.also.length > 0 ? html`<h4>${t('glossary_sheet.also')}</h4><ul class="also">${term.also.map(({ name, whose }) => html`<li><code>${name}</code> ${whose}</li>`)}</ul>` : nothing}
      ${Object.entries(term.spaces).map(([relation, names]) => links(t(`glossary_sheet.spaces.${relation}`), names))}
      ${links(t('glossary_sheet.related'), term.related)}`;
  }
}

/** @param {Term} term */
function label(term) {
  return term.is_code ? named(term.name) : term.name;
}

customElements.define('pw-glossary', Glossary);
