// @ts-check
/** The question of the example that is open, in one line above the board; the answer on demand. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { inPieces } from './examples.js';
import { say } from '../view.js';

export class Question extends HTMLElement {
  #name = '';
  #isAnswered = false;

  /** @param {{t: import('../../core/i18n.js').Translate, example: import('../../core/gallery.js').Example | null}} what */
  show({ t, example }) {
    if (example?.name !== this.#name) this.#isAnswered = false;
    this.#name = example?.name ?? '';
    this.hidden = example === null;
    const toggle = () => {
      this.#isAnswered = !this.#isAnswered;
      this.show({ t, example });
    };
    render(
      example
        ? html`<p class="ask"><b>${t('gallery.ask')}</b> <span data-question>${inPieces(example.question)}</span>
            <button type="button" class="btn" aria-expanded=${this.#isAnswered ? 'true' : 'false'} data-answer-switch
              @click=${toggle}>${t('gallery.answer')}</button></p>
            <button type="button" class="btn away" aria-label=${t('gallery.put_away')} title=${t('gallery.put_away')}
              @click=${() => say(this, 'put-away', { name: example.name })}>×</button>
            ${
              this.#isAnswered
                ? html`<p class="answer" data-answer
              role="status">${inPieces(example.answer)}</p>`
                : nothing
            }`
        : nothing,
      this,
    );
  }
}

customElements.define('pw-question', Question);
