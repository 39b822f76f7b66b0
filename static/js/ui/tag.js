// @ts-check
/** A request's mark: letter, hatch and colour, and its name for those who do not see them. */
import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { seen } from '../core/identity.js';

/** @typedef {import('./view.js').View} View */

/**
 * Class names that give an element a request's colours and hatch.
 * @param {View} view
 * @param {string | null} reqId
 */
export function requestClass(view, reqId) {
  const identity = reqId === null ? undefined : view.identities.get(reqId);
  return identity ? `rq rq-c${identity.colour} rq-h${identity.hatch}` : '';
}

/**
 * A request that the draft has no longer, on a board that is older, has no letter: what its name begins with is one.
 * @param {View} view @param {string | null} reqId
 */
export function letterOf(view, reqId) {
  if (reqId === null) return '';
  const [first, ...rest] = seen(reqId);
  return view.identities.get(reqId)?.letter ?? (rest.length > 0 ? `${first}…` : first);
}

/** @param {View} view @param {string | null} reqId */
export function requestTag(view, reqId) {
  if (reqId === null) return nothing;
  const letter = letterOf(view, reqId);
  const shown = seen(reqId);
  const name = letter === shown ? nothing : html`<span class="tag-name" title=${reqId}>${shown}</span>`;
  return html`<span class="tag ${requestClass(view, reqId)}" data-req=${reqId}>${letter}</span>${name}`;
}
