// @ts-check
/** Words of the page that lead to the glossary: buttons that look like the words they are. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { CODE_TERMS, sentencePieces } from '../../core/glossary.js';
import { named } from '../names.js';

/** @typedef {import('../../core/trace/schema.js').Schema} Schema */

/**
 * A word that opens the glossary at a term. Off the tab order where it stands in a table: there the key `g` does the same.
 * @param {string} term
 * @param {unknown} content
 * @param {{tab?: boolean, kind?: string}} [how]
 */
export function termButton(term, content, { tab = true, kind = '' } = {}) {
  return html`<button type="button" class="term ${kind}" data-term=${term}
    tabindex=${tab ? nothing : '-1'}>${content}</button>`;
}

/** The name of a tensor or an index over a table. @param {string} name */
export function termName(name) {
  return termButton(name, named(name), { tab: false });
}

/** @param {Schema} schema @param {string} name */
function isTerm(schema, name) {
  return (
    schema.spaces.has(name) ||
    CODE_TERMS.has(name) ||
    schema.walk.includes(name) ||
    schema.coordinates.some((entry) => entry.name === name)
  );
}

/** A sentence whose code names lead to the glossary. @param {Schema} schema @param {string} text */
export function withTerms(schema, text) {
  return sentencePieces(text, (name) => isTerm(schema, name)).map((piece) => {
    if (piece.kind === 'text') return piece.text;
    return piece.kind === 'term' ? termButton(piece.text, named(piece.text), { kind: 'inline' }) : named(piece.text);
  });
}
