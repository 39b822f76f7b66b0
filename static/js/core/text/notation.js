// @ts-check
/** Text in one of the two notations, and what it says: its values with their places, or what keeps it from being read. */
import { readJson } from './json-tree.js';
import { unreadable } from './text-tree.js';
import { readYaml } from './yaml-tree.js';

/** @typedef {import('./scenario-text.js').Notation} Notation */
/** @typedef {import('./text-tree.js').Reading} Reading */

/** As much as the server reads. @type {Record<Notation, number>} */
export const MOST_BYTES = { json: 1_048_576, yaml: 262_144 };

/** What vLLM writes into its log when it crashes. */
const LOG = /\bSchedulerOutput\(scheduled_new_reqs=/;

/** @param {string} text @param {Notation} notation @returns {Reading} */
export function readText(text, notation) {
  const bytes = text.length * 3 > MOST_BYTES[notation] ? new TextEncoder().encode(text).length : 0;
  if (bytes > MOST_BYTES[notation]) return unreadable(text, 'text.too_large', 0, 0, { bytes, limit: MOST_BYTES[notation] });
  const reading = notation === 'json' ? readJson(text) : readYaml(text);
  const log = reading.root ? null : LOG.exec(text);
  return log ? unreadable(text, 'text.dump', log.index, log.index + log[0].length) : reading;
}

/**
 * Which notation a text is in: a file says so by its name, every other text by its first character.
 * @param {string} text
 * @param {string} [name]
 * @returns {Notation}
 */
export function notationOf(text, name = '') {
  if (/\.ya?ml$/i.test(name)) return 'yaml';
  return /\.json$/i.test(name) || /^\s*[{[]/.test(text) ? 'json' : 'yaml';
}
