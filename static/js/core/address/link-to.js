// @ts-check
/** The address under which others open a scenario: the whole scenario in it, with the place on the board or without. */
import { formatAddress } from './address.js';
import { encodeLink } from './link.js';

/** What chat programs take as a link. */
export const LONGEST_IN_CHATS = 2_000;

/**
 * Throws what `encodeLink` throws.
 * @param {import('../scenario/format.js').Format} format
 * @param {any} scenario
 * @param {object} [options]
 * @param {string} [options.base]  how addresses of the page begin: `https://example.org/`, or `` for a relative one
 * @param {Partial<import('./address.js').Address> | null} [options.place]  step, stage, pin, view, language; null: where
 *   the scenario begins
 * @returns {Promise<{s: string, href: string, length: number}>} length: of the whole address, in characters
 */
export async function linkTo(format, scenario, { base = '', place = null } = {}) {
  const s = await encodeLink(format, scenario);
  const href = base + formatAddress({ ...place, example: null, draft: null, ignored: [], s });
  return { s, href, length: href.length };
}
