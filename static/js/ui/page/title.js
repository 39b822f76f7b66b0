// @ts-check
/**
 * The title of the scenario in the line at the top, and under it, when asked for, what it is about: both are edited in
 * place.
 */
import { html, render } from '../../../vendor/lit-html/lit-html.js';
import { MOST_DESCRIPTION, MOST_TITLE } from '../../core/scenario/limits.js';
import { restore, shows, take } from '../field.js';
import { say } from '../view.js';

export class Title extends HTMLElement {
  /** @type {import('../view.js').View | null} */
  #view = null;
  #box = document.createElement('div');

  connectedCallback() {
    this.#box.popover = 'auto';
    this.#box.className = 'title-editor';
    this.#box.addEventListener('keydown', (event) => this.#key(event));
    this.#box.addEventListener('toggle', (event) => this.#toggled(/** @type {ToggleEvent} */ (event)));
    this.append(this.#box);
    this.querySelector('button')?.addEventListener('click', () => this.#open());
  }

  /** @param {import('../view.js').View} view */
  set view(view) {
    this.#view = view;
    if (this.#box.matches(':popover-open')) this.#draw();
  }

  #open() {
    if (!this.#view) return;
    this.#draw();
    this.#box.showPopover();
    const at = this.getBoundingClientRect();
    this.#box.style.left = `${Math.max(8, Math.min(at.left - 8, innerWidth - this.#box.offsetWidth - 8))}px`;
    this.#box.style.top = `${at.bottom + 4}px`;
    this.#box.querySelector('input')?.select();
  }

  #draw() {
    const { t, draft } = /** @type {import('../view.js').View} */ (this.#view);
    const change = (/** @type {{target: HTMLInputElement | HTMLTextAreaElement}} */ { target }) => this.#take(target);
    const [title, description] = [draft.title ?? '', draft.description ?? ''];
    render(
      html`<label>${t('title.title')}<input autofocus maxlength=${MOST_TITLE} autocomplete="off"
        ${shows(title, 'title')} placeholder=${t('scenario.untitled')} @change=${change}></label>
        <label>${t('title.description')}<textarea rows="4" maxlength=${MOST_DESCRIPTION}
          ${shows(description, 'description')} @change=${change}></textarea></label>`,
      this.#box,
    );
  }

  /** @param {HTMLInputElement | HTMLTextAreaElement} field */
  #take(field) {
    const kind = field instanceof HTMLInputElement ? 'title' : 'description';
    take(field, (text) => say(this, 'edit', { kind, text }));
  }

  /** Enter takes the title, Escape leaves everything as it was. @param {KeyboardEvent} event */
  #key(event) {
    const field = event.target;
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) || event.isComposing) return;
    if (event.key === 'Enter' && field instanceof HTMLInputElement) {
      event.preventDefault();
      this.#box.hidePopover();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      restore(field);
      this.#box.hidePopover();
    }
  }

  /** What was typed is taken when the box closes, however it is closed. @param {ToggleEvent} event */
  #toggled({ newState }) {
    if (newState !== 'closed') return;
    for (const field of /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */ (
      this.#box.querySelectorAll('input, textarea')
    ))
      this.#take(field);
    if (this.#box.contains(document.activeElement) || document.activeElement === document.body)
      this.querySelector('button')?.focus();
  }
}

customElements.define('pw-title', Title);
