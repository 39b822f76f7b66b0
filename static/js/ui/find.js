// @ts-check
/** The find box: a number or a name, what it may mean in this step, and one key to pin it. */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { findCells } from '../core/find.js';
import { say } from './view.js';

/** @typedef {import('./view.js').View} View */

export class Find extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  #query = '';
  #active = 0;
  #open = false;

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    this.#draw();
  }

  /** Puts the cursor into the box. */
  start() {
    this.querySelector('input')?.focus();
  }

  #matches() {
    return this.#view ? findCells(this.#view.step, this.#query) : [];
  }

  /** @param {number} place */
  #pin(place) {
    const match = this.#matches()[place];
    if (!match || !this.#view) return;
    this.#open = false;
    say(this, 'pin', { space: match.space, at: match.at, step: this.#view.index });
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const count = this.#matches().length;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      this.#active = count === 0 ? 0 : (this.#active + (event.key === 'ArrowDown' ? 1 : count - 1)) % count;
      this.#open = true;
    } else if (event.key === 'Enter') this.#pin(this.#active);
    else if (event.key === 'Escape') this.#open = false;
    else return;
    this.#draw();
  }

  #draw() {
    const view = this.#view;
    if (!view) return;
    const { t } = view;
    const matches = this.#open ? this.#matches() : [];
    const shown = this.#open && this.#query.trim() !== '';
    render(
      html`<input type="search" role="combobox" autocomplete="off" spellcheck="false" placeholder=${t('find.title')} aria-label=${t('find.label')} title=${t('find.label')} aria-expanded=${shown ? 'true' : 'false'} aria-controls="find-list" aria-activedescendant=${shown && matches.length > 0 ? `find-${this.#active}` : nothing}
          @input=${(/** @type {Event} */ event) => this.#typed(/** @type {HTMLInputElement} */ (event.target).value)} @keydown=${(/** @type {KeyboardEvent} */ event) => this.#key(event)} @blur=${() => this.#close()}>
        ${shown
          ? html`<ul id="find-list" role="listbox" aria-label=${t('find.label')}>${matches.map(
              (match, place) => html`<li role="option" id="find-${place}" aria-selected=${place === this.#active ? 'true' : 'false'} @pointerdown=${(/** @type {Event} */ event) => event.preventDefault()} @click=${() => this.#pin(place)}><b>${t(`find.${match.kind}`, { value: match.value })}</b> <code>${match.space}[${match.at.join(', ')}]</code></li>`,
            )}${matches.length === 0 ? html`<li class="none" role="option" aria-disabled="true" aria-selected="false">${t('find.none', { query: this.#query.trim() })}</li>` : nothing}</ul>`
          : nothing}`,
      this,
    );
  }

  /** @param {string} query */
  #typed(query) {
    this.#query = query;
    this.#active = 0;
    this.#open = true;
    this.#draw();
  }

  #close() {
    this.#open = false;
    this.#draw();
  }
}

customElements.define('pw-find', Find);
