// @ts-check
/** The examples in the dialog of scenarios, by groups: what each is about, what to ask oneself, and the answer on demand. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { sentencePieces } from '../../core/glossary.js';
import { searchOf } from '../../core/gallery.js';
import { named } from '../names.js';
import { sketch } from './sketch.js';

/** @typedef {import('../../core/gallery.js').Example} Example */
/** @typedef {import('./gallery.js').Shelf} Shelf */

/** @param {Shelf} shelf @param {{key: string, group: string, examples: Example[]}[]} groups */
export function exampleGroups(shelf, groups) {
  return groups.map(({ key, group, examples }) =>
    examples.length === 0
      ? nothing
      : html`<section aria-labelledby="gallery-${key}"><h3 id="gallery-${key}" tabindex="-1">${group}</h3><ul
        class="cards">${examples.map((one) => card(shelf, one))}</ul></section>`,
  );
}

/** @param {Shelf} shelf @param {Example} example */
function card({ t, lang, open }, example) {
  const { name, title, description, question, answer, size } = example;
  const isOpen = open.kind === 'example' && open.name === name;
  const asked = new URLSearchParams(location.search).get('lang') === lang ? lang : null; // links keep it
  return html`<li class="card" data-example=${name}>
    ${sketch(example.sketch)}
    <div>
      <h4><a data-entry href=${searchOf(example, asked)}
        aria-current=${isOpen ? 'true' : nothing}>${inPieces(title)}</a>${isOpen ? openNow(t) : nothing}</h4>
      <p class="facts">${factsOf(t, size)}</p>
      <p>${inPieces(description)}</p>
      <p class="ask"><b>${t('gallery.ask')}</b> ${inPieces(question)}</p>
      <details><summary>${t('gallery.answer')}</summary><p>${inPieces(answer)}</p></details>
    </div>
  </li>`;
}

/** @param {import('../../core/i18n.js').Translate} t */
export function openNow(t) {
  return html` <span class="label">${t('gallery.open_now')}</span>`;
}

/** @param {import('../../core/i18n.js').Translate} t @param {import('../../core/gallery.js').Size} size */
export function factsOf(t, { requests, steps, groups }) {
  return [
    t('gallery.requests', { n: requests }),
    t('gallery.steps', { n: steps }),
    ...(groups > 1 ? [t('gallery.groups', { n: groups })] : []),
  ].join(' · ');
}

/** Names of tensors are set as such. @param {string} text */
export function inPieces(text) {
  return sentencePieces(text, () => false).map((piece) => (piece.kind === 'code' ? named(piece.text) : piece.text));
}
