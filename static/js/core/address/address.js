// @ts-check
/**
 * The query string of the page, read forgivingly and written in one order.
 *
 * Reading never fails: a parameter that makes no sense is reported and left out.
 */
import { parseCellKey } from '../trace/trace.js';

/**
 * @typedef {object} Address
 * @property {string | null} s  a whole scenario, as it stands there
 * @property {string | null} example
 * @property {string | null} draft  a draft kept in this browser
 * @property {number | null} step
 * @property {string | null} stage
 * @property {string | null} pin  `space.i.j`
 * @property {'board' | 'present' | 'embed' | null} view
 * @property {string | null} steps  `a-b`, the steps that an embedded page keeps to
 * @property {string | null} lang
 * @property {[string, string][]} rest  parameters of others, kept as they are
 * @property {string[]} ignored  names of parameters that could not be read
 */

const OURS = ['s', 'example', 'draft', 'step', 'stage', 'pin', 'view', 'steps', 'lang'];
/** A code of a language. */
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i;
const STAGE = /^[a-z][a-z0-9-]{0,63}$/;
export const MODES = ['board', 'present', 'embed'];

/**
 * Without knowing which stages and languages there are, whatever could be one is taken for one.
 * @param {string} search
 * @param {object} [known]
 * @param {(name: string) => boolean} [known.isView]  whether a name is that of a stage, or of all
 * @param {(code: string) => boolean} [known.isLanguage]
 * @returns {Address}
 */
export function parseAddress(
  search,
  { isView = (name) => STAGE.test(name), isLanguage = (code) => LANGUAGE.test(code) } = {},
) {
  const params = new URLSearchParams([...new URLSearchParams(search)].map(([name, value]) => [meant(name), value]));
  /** @type {string[]} */
  const ignored = [];
  const read = (/** @type {string} */ name, /** @type {(text: string) => boolean} */ valid) => {
    const text = params.get(name);
    if (text === null) return null;
    if (valid(text)) return text;
    ignored.push(name);
    return null;
  };
  const step = read('step', (text) => /^-?\d{1,9}$/.test(text)); // which of them there are, the scenario tells
  return {
    s: params.get('s'),
    example: read('example', (text) => /^[\w-]{1,80}$/.test(text)),
    draft: read('draft', (text) => /^[a-z0-9]{1,20}$/.test(text)),
    step: step === null ? null : Number(step),
    stage: read('stage', isView),
    pin: read('pin', (text) => parseCellKey(text) !== null),
    view: /** @type {'board' | 'present' | 'embed' | null} */ (read('view', (text) => MODES.includes(text))),
    steps: read('steps', (text) => stepRange(text) !== null),
    lang: read('lang', isLanguage),
    rest: [...params].filter(([name]) => !OURS.includes(name)),
    ignored,
  };
}

/**
 * Which parameter it is: whole addresses are set in capitals, and HTML in which somebody pasted one writes its & as &amp;
 * @param {string} name
 */
function meant(name) {
  const plain = name.replace(/^(amp;)+/i, '');
  return OURS.includes(plain.toLowerCase()) ? plain.toLowerCase() : plain;
}

/**
 * A range of steps as it is written in an address, both ends inclusive; null for anything else.
 * @param {string | null} text
 * @returns {import('../trace/stop-points.js').Range | null}
 */
export function stepRange(text) {
  const found = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? '');
  const [first, last] = [Number(found?.[1]), Number(found?.[2])];
  return found && first <= last ? { first, last } : null;
}

/**
 * @param {Partial<Address>} address
 * @returns {string} with its question mark, empty if there is nothing to say
 */
export function formatAddress(address) {
  const params = new URLSearchParams();
  // First, where nothing that follows it can be taken for its end; a link has no character that an address cannot have.
  const link = address.s ? `s=${/^[\w~-]*$/.test(address.s) ? address.s : encodeURIComponent(address.s)}` : '';
  for (const name of /** @type {const} */ (['example', 'draft', 'step', 'stage', 'pin', 'view', 'steps', 'lang'])) {
    const value = address[name];
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  }
  for (const [name, value] of address.rest ?? []) params.append(name, value);
  const text = [link, params.toString()].filter(Boolean).join('&');
  return text ? `?${text}` : '';
}
