// @ts-check
/** The address of the handout of what the page shows: the same scenario, steps and language, on paper. */

/**
 * @typedef {object} HandoutOf
 * @property {string | null} [example]
 * @property {string | null} [s]  a self-contained scenario: a draft of the reader is encoded first
 * @property {string | null} [short]  the id of a short link
 * @property {number | null} [step]
 * @property {string | null} [steps]  `a-b`
 * @property {string | null} [lang]
 * @property {'0' | '1' | 'both' | null} [answers]  worksheet, answer key, one after the other
 */

const PARAMETERS = /** @type {(keyof HandoutOf)[]} */ (['example', 's', 'short', 'lang', 'step', 'steps', 'answers']);

/**
 * @param {string} root  the path that the server is reached under, '' or '/pagewalk'
 * @param {HandoutOf} what
 */
export function handoutAddress(root, what) {
  const query = new URLSearchParams();
  for (const name of PARAMETERS) {
    const value = what[name];
    if (value !== null && value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString().replaceAll('%7E', '~');
  return `${root}/handout${text ? `?${text}` : ''}`;
}
