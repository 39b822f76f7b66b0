// @ts-check
/**
 * The glossary as a dialog: a list to search on one side, the term that is open on the other.
 *
 * In the list the arrows move, Enter opens; a term leads to others, and Back returns to the one before.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { groupsOf, searchTerms, sentencePieces } from '../../core/glossary.js';
import { closeBeside } from '../backdrop.js';
import { accentOf, named } from '../names.js';
import { termButton } from './terms.js';
import { say } from '../view.js';

/** @typedef {import('../../core/glossary.js').Term} Term */
/** @typedef {import('../../core/i18n.js').Translate} Translate */

/** Where people go wrong most often: worth reading first. */
const START = [
  'req_state_idx',
  'batch_idx',
  'position',
  'flat_token_idx',
  'seq_lens',
  'num_scheduled_tokens',
  'block_tables',
  'input_block_tables',
  'padding',
  'slot',
  'kv-cache-group',
  'prefill-chunk',
];

export class Glossary extends HTMLElement {
  /** @type {Map<string, Term>} */
  #terms = new Map();
  /** @type {Translate} */
  #t = (key) => key;
  #text = '';
  /** @type {string[]} terms opened, the last one is on screen */
  #trail = [];
  /** The axis that a dimension is drawn along. @type {(dim: string) => string} */
  axisOf = (dim) => dim;
  /** Whether the step on screen has a tensor. @type {(space: string) => boolean} */
  isHere = () => true;

  connectedCallback() {
    this.addEventListener('click', (event) => {
      const target = event.target instanceof Element ? event.target : null;
      const link = target?.closest('[data-term]');
      if (link instanceof HTMLElement && link.dataset.term) {
        event.stopPropagation();
        this.#go(link.dataset.term);
      } else closeBeside(event);
    });
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focusin', ({ target }) => {
      if (target instanceof HTMLElement && target.dataset.glossaryEntry) this.#rove(target);
    });
  }

  /**
   * @param {{terms: Term[], t: Translate, term: string | null}} what
   */
  open({ terms, t, term }) {
    this.#terms = new Map(terms.map((one) => [one.term, one]));
    this.#t = t;
    this.#text = '';
    this.#trail = term && this.#terms.has(term) ? [term] : [];
    this.#draw();
    const dialog = this.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    const input = this.querySelector('input');
    if (input) input.value = '';
    this.#settle(this.#trail.length === 0);
  }

  get #term() {
    return this.#terms.get(this.#trail[this.#trail.length - 1] ?? '') ?? null;
  }

  /** @param {string} term */
  #go(term) {
    if (!this.#terms.has(term) || term === this.#term?.term) return;
    this.#trail = [...this.#trail, term].slice(-50);
    this.#draw();
    this.#settle(false);
  }

  #back() {
    this.#trail = this.#trail.slice(0, -1);
    this.#draw();
    this.#settle(this.#trail.length === 0);
  }

  /** Focus goes to what changed, and the list shows where one is. @param {boolean} toSearch */
  #settle(toSearch) {
    const article = this.querySelector('article');
    if (article) article.scrollTop = 0;
    const entry = /** @type {HTMLElement | null} */ (this.querySelector('[data-glossary-entry][aria-current]'));
    entry?.scrollIntoView({ block: 'nearest' });
    if (toSearch) this.querySelector('input')?.focus();
    else this.querySelector(/** @type {'h3'} */ ('article h3'))?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const entries = /** @type {HTMLElement[]} */ ([...this.querySelectorAll('[data-glossary-entry]')]);
    const target = /** @type {HTMLElement} */ (event.target);
    const place = entries.indexOf(target);
    const inSearch = target instanceof HTMLInputElement;
    if (event.key === 'Enter' && inSearch && !event.isComposing && this.#text !== '' && entries[0])
      this.#go(entries[0].dataset.glossaryEntry ?? '');
    else if (event.key === 'ArrowDown' && (inSearch || place >= 0)) entries[place + 1]?.focus();
    else if (event.key === 'ArrowUp' && place > 0) entries[place - 1].focus();
    else if (event.key === 'ArrowUp' && place === 0) this.querySelector('input')?.focus();
    else if (event.key === 'Home' && place >= 0) entries[0].focus();
    else if (event.key === 'End' && place >= 0) entries[entries.length - 1].focus();
    else return;
    event.preventDefault();
  }

  #draw() {
    const t = this.#t;
    const term = this.#term;
    const close = () => this.querySelector('dialog')?.close();
    render(
      html`<dialog class="glossary" aria-labelledby="glossary-title">
        <header><h2 id="glossary-title">${t('terms.title')}</h2><button type="button" class="btn" data-glossary-close
          @click=${close}>${t('help.close')}</button></header>
        <div class="panes" ?data-open=${term !== null}>
          <div class="terms">
            <input type="search" autocomplete="off" spellcheck="false" aria-label=${t('terms.search')}
              placeholder=${t('terms.placeholder')}
              @input=${(/** @type {Event} */ event) => this.#type(/** @type {HTMLInputElement} */ (event.target).value)}>
            <nav aria-label=${t('terms.title')}>${this.#text.trim() === '' ? this.#all() : this.#matches()}</nav>
          </div>
          <article>${
            term
              ? this.#article(term)
              : html`<p
            class="welcome">${t('terms.welcome', { n: this.#terms.size })}</p><h4>${t('terms.start')}</h4><p
            class="links">${START.map((name) => this.#link(name))}</p>`
          }</article>
        </div>
      </dialog>`,
      this,
    );
    this.#rove();
  }

  /** @param {string} text */
  #type(text) {
    this.#text = text;
    this.#draw();
    this.querySelector('nav')?.scrollTo({ top: 0 });
  }

  #all() {
    return groupsOf([...this.#terms.values()]).map(
      ({ key, terms }) => html`<h3>${this.#t(key)}</h3><ul>${terms.map((term) => this.#entry(term, null))}</ul>`,
    );
  }

  #matches() {
    const found = searchTerms([...this.#terms.values()], this.#text);
    return html`<p class="count"
      role="status">${this.#t(found.length > 0 ? 'terms.count' : 'terms.none', { n: found.length, query: this.#text.trim() })}</p>
      <ul>${found.map(({ term, via }) => this.#entry(term, via))}</ul>`;
  }

  /**
   * One entry of the list is in the tab order: the term that is open, else the first.
   * @param {HTMLElement | null} [entry]
   */
  #rove(entry = this.querySelector('[data-glossary-entry][aria-current]') ?? this.querySelector('[data-glossary-entry]')) {
    for (const one of this.querySelectorAll('[data-glossary-entry]'))
      one.setAttribute('tabindex', one === entry ? '0' : '-1');
  }

  /** @param {Term} term @param {{name: string, whose: string} | null} via */
  #entry(term, via) {
    const isOpen = this.#term?.term === term.term;
    const aside = via
      ? html`<small>= ${via.name} · ${via.whose}</small>`
      : term.kind === 'stage'
        ? html`<small>${this.#t('terms.kind.stage')}</small>`
        : inWords(term);
    return html`<li><button type="button" data-glossary-entry=${term.term} data-term=${term.term}
      aria-current=${isOpen ? 'true' : nothing}>${nameOf(term)}${aside}</button></li>`;
  }

  /** @param {Term} term */
  #article(term) {
    const t = this.#t;
    const link = (/** @type {string} */ name) => this.#link(name);
    const links = (/** @type {string} */ title, /** @type {string[] | undefined} */ names) =>
      names && names.length > 0 ? html`<h4>${title}</h4><p class="links">${names.map(link)}</p>` : nothing;
    const about = [
      t(`terms.kind.${term.kind}`),
      term.space ? t(`stage.${term.space.stage}`) : '',
      term.space ? t(`exactness.${term.space.exactness}`) : '',
    ].filter(Boolean);
    return html`
      <p class="trail"><button type="button" class="btn" data-glossary-back ?hidden=${this.#trail.length === 0}
        @click=${() => this.#back()}>← ${this.#trail.length > 1 ? this.#terms.get(this.#trail[this.#trail.length - 2])?.name : t('terms.all')}</button></p>
      <p class="kind">${about.join(' · ')}</p>
      <h3 tabindex="-1" data-open-term=${term.term}
        class=${accentOf(term.space?.holds ?? this.axisOf(term.term))}>${nameOf(term)}${inWords(term)}</h3>
      <p class="definition">${this.#sentence(term.definition)}</p>
      ${
        term.confusion
          ? html`<p
        class="confusion"><b>${t('terms.mistaken')}</b> ${this.#sentence(term.confusion)}</p>`
          : nothing
      }
      ${this.#facts(term)}
      ${
        term.also.length > 0
          ? html`<h4>${t('terms.also')}</h4><ul
        class="also">${term.also.map(
          ({ name, whose }) => html`<li><code
        translate="no">${name}</code> <span>${whose}</span></li>`,
        )}</ul>`
          : nothing
      }
      ${links(t('terms.of_stage'), term.spaces.stage)}${links(t('terms.along'), term.spaces.along)}
      ${links(t('terms.hold'), term.spaces.hold)}${links(t('terms.related'), term.related)}
      ${this.#show(term)}`;
  }

  /** @param {Term} term */
  #facts({ space, vllm }) {
    const t = this.#t;
    const fact = (/** @type {string} */ name, /** @type {unknown} */ value) =>
      html`<div><dt>${t(`terms.${name}`)}</dt><dd>${value}</dd></div>`;
    if (!space && !vllm) return nothing;
    return html`<dl class="facts">
      ${space ? fact('dims', html`[${space.dims.map((dim, place) => [place > 0 ? ', ' : '', this.#link(dim)])}]`) : nothing}
      ${space ? fact('dtype', html`<code>${space.dtype}</code>`) : nothing}
      ${space?.holds ? fact('holds', this.#link(space.holds)) : nothing}
      ${vllm ? fact('vllm', html`<code>${vllm.symbol}</code> <small>${vllm.file}</small>`) : nothing}
    </dl>`;
  }

  /** @param {Term} term */
  #show(term) {
    const t = this.#t;
    if (!term.space && term.kind !== 'stage') return nothing;
    const isHere = !term.space || this.isHere(term.term);
    const show = () => {
      this.querySelector('dialog')?.close();
      say(this, 'show', { stage: term.space?.stage ?? term.term, space: term.space ? term.term : null });
    };
    return html`<p class="actions"><button type="button" class="btn main" data-show ?disabled=${!isHere}
      @click=${show}>${t('terms.show')}</button>${isHere ? nothing : html` <span>${t('terms.not_here')}</span>`}</p>`;
  }

  /** @param {string} name */
  #link(name) {
    const term = this.#terms.get(name);
    return term ? termButton(name, nameOf(term), { kind: 'inline' }) : named(name);
  }

  /** @param {string} text */
  #sentence(text) {
    return sentencePieces(text, (name) => this.#terms.has(name) && name !== this.#term?.term).map((piece) =>
      piece.kind === 'term' ? this.#link(piece.text) : piece.kind === 'code' ? named(piece.text) : piece.text,
    );
  }
}

/** A code name in words, unless it is a word already. @param {Term} term */
function inWords(term) {
  return term.words && term.words !== term.name ? html` <small>${term.words}</small>` : nothing;
}

/** @param {Term} term */
function nameOf(term) {
  return term.is_code ? named(term.name) : html`<span>${term.name}</span>`;
}

customElements.define('pw-glossary', Glossary);
