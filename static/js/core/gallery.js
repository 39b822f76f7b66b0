// @ts-check
/** The gallery as data: groups, what a search finds, and what can be said of a scenario in a line or a small picture. */
import { formatAddress } from './address/address.js';
import { countsOf } from './scenario/edits.js';

/** @typedef {{requests: number, steps: number, groups: number}} Size */
/**
 * @typedef {object} Example
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {string} group
 * @property {string} question
 * @property {string} answer
 * @property {{stage?: string, pin?: string}} place  where to look
 * @property {Size} size
 * @property {number[][]} sketch  tokens by request and step, of the first few
 */

/** Requests and steps of a small picture. */
const SKETCH = { requests: 8, steps: 16 };

/** @param {Example[]} examples @returns {{group: string, examples: Example[]}[]} in the order of the examples */
export function groupsOf(examples) {
  return [...new Set(examples.map(({ group }) => group))].map((group) => ({
    group,
    examples: examples.filter((one) => one.group === group),
  }));
}

/**
 * Whether every word that is looked for is somewhere in the texts; "seq lens" is `seq_lens`.
 * @param {string} query
 * @param {(string | undefined)[]} texts
 */
export function matches(query, texts) {
  const text = plain(texts.join(' '));
  return plain(query)
    .split(' ')
    .every((word) => text.includes(word));
}

/** @param {string} text */
function plain(text) {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();
}

/** Not in its answer, which one is to find. @param {Example} example @returns {string[]} */
export function textsOf({ name, title, description, group, question }) {
  return [name, title, description, group, question];
}

/**
 * The query that opens an example where there is something to see.
 * @param {Example} example
 * @param {string | null} [lang]
 */
export function searchOf({ name, place }, lang = null) {
  return formatAddress({
    example: name,
    stage: place?.stage ?? null,
    pin: place?.pin ?? null,
    lang: /** @type {'en' | 'zh' | null} */ (lang),
  });
}

/** @param {import('./scenario/edits.js').Scenario} scenario @returns {Size} */
export function sizeOf({ requests, steps, config }) {
  return { requests: requests.length, steps: steps.length, groups: Math.max(1, config?.kv_cache_groups?.length ?? 1) };
}

/**
 * As the server sketches its examples; a count that is none is drawn as nothing.
 * @param {import('./scenario/edits.js').Scenario} scenario
 * @returns {number[][]}
 */
export function sketchOf({ requests, steps }) {
  const counts = steps.slice(0, SKETCH.steps).map((step) => countsOf(step).counts);
  return requests.slice(0, SKETCH.requests).map(({ req_id }) =>
    counts.map((step) => {
      const count = step.get(req_id);
      return Number.isInteger(count) && count > 0 ? count : 0;
    }),
  );
}

/**
 * Names of the requests, for a scenario without a title.
 * @param {import('./scenario/edits.js').Scenario} scenario
 * @param {string} separator
 * @param {number} [most]
 */
export function namesOf({ requests }, separator, most = 4) {
  const names = requests.slice(0, most).map(({ req_id }) => req_id);
  return [...names, ...(requests.length > most ? ['…'] : [])].join(separator);
}
