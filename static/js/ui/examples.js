// @ts-check
/** The gallery, as a list to choose from. */
import { html, nothing, render } from '../../vendor/lit-html/lit-html.js';
import { say } from './view.js';

export class Examples extends HTMLElement {
  /** @param {import('./view.js').View} view */
  set view({ t, examples }) {
    if (examples.length < 2) return;
    const choose = (/** @type {Event} */ event) => {
      const select = /** @type {HTMLSelectElement} */ (event.target);
      if (select.value) say(this, 'example', { name: select.value });
      select.value = '';
    };
    render(
      html`<label><span class="vh">${t('examples.choose')}</span><select class="btn" data-examples @change=${choose}><option value="" selected>${t('examples.title')}</option>${examples.map(({ name, title }) => html`<option value=${name}>${title}</option>`)}</select></label>${nothing}`,
      this,
    );
  }
}

customElements.define('pw-examples', Examples);
