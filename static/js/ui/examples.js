// @ts-check
/** The gallery, as a list to choose from, by groups. */
import { html, render } from '../../vendor/lit-html/lit-html.js';
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
    const groups = [...new Set(examples.map(({ group }) => group))];
    render(
      html`<label class="choose"><span class="vh">${t('examples.choose')}</span><select class="btn" data-examples @change=${choose}><option value="" selected>${t('examples.title')}</option>${groups.map((group) => html`<optgroup label=${group}>${examples.filter((one) => one.group === group).map(({ name, title }) => html`<option value=${name}>${title}</option>`)}</optgroup>`)}</select></label>`,
      this,
    );
  }
}

customElements.define('pw-examples', Examples);
