// @ts-check
/** How the names of tensors and index spaces are set. */
import { html } from '../../vendor/lit-html/lit-html.js';
import { axisOf } from '../core/trace/trace.js';

/** Index space -> the class of its accent; everything else is set in plain ink. */
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

/** @param {string | null | undefined} name an index space or a dimension */
export function accentOf(name) {
  return name ? (ACCENTS[axisOf(name)] ?? '') : '';
}

/** Index arrays of PageWalk's bookkeeping, some of which mirror something that vLLM keeps in another form. */
const OWN = /^(schedule_|row_|kv_block_|stale_block_|sort_key$)/;

/**
 * Whether a name is PageWalk's own: vLLM has no tensor called so.
 * @param {import('../core/trace/schema.js').Schema} schema
 * @param {string} space
 */
export function isOwn(schema, space) {
  const def = schema.def(space);
  return def !== null && (def.vllm === null || OWN.test(space));
}

/**
 * Coordinate -> the space whose accent a reader knows it by.
 * @param {string} space
 * @param {import('../core/trace/schema.js').Schema} schema
 */
export function accentOfSpace(space, schema) {
  return accentOf(schema.def(space)?.holds);
}

/**
 * A tensor's name, allowed to break at its underscores.
 * @param {string} name
 */
export function named(name) {
  const parts = name.split('_');
  return html`<code translate="no">${parts.map((part, place) => (place === 0 ? part : html`_<wbr>${part}`))}</code>`;
}
