// @ts-check
/** How the names of tensors and index spaces are set. */
import { html } from '../../vendor/lit-html/lit-html.js';

/** Index space -> the class of its accent; every other name is set in plain ink. */
const ACCENTS = /** @type {Record<string, string>} */ ({
  req_id: 'sp-req',
  req_state_idx: 'sp-req',
  batch_idx: 'sp-batch',
  flat_token_idx: 'sp-tok',
  position: 'sp-pos',
  block_index: 'sp-blk',
  block_id: 'sp-blk',
  slot_id: 'sp-slot',
});

/** @param {string | null | undefined} name an index space or an axis */
export function accentOf(name) {
  return name ? (ACCENTS[name] ?? '') : '';
}

/**
 * An index in words, where the catalogue has them.
 * @param {import('./view.js').View} view
 * @param {string} dim
 * @param {number} index
 */
export function dimName(view, dim, index) {
  const key = dim === 'sort_key_part' ? `dim.${dim}.${index}` : `dim.${dim}`;
  const text = view.t(key, { index: String(index) });
  return text === key ? `${dim} ${index}` : text;
}

/**
 * A tensor's name, allowed to break at its underscores.
 * @param {string} name
 */
export function named(name) {
  const parts = name.split('_');
  return html`<code translate="no">${parts.map((part, place) => (place === 0 ? part : html`_<wbr>${part}`))}</code>`;
}
