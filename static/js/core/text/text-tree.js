// @ts-check
/**
 * A scenario as somebody wrote it, JSON or YAML: its values, each with its place in the text.
 *
 * In: the tree that `json-tree` or `yaml-tree` read. Out: the document it stands for, and the place of whatever a JSON
 * Pointer names, so that what the server finds wrong is said at its line.
 */
import { pointerKeys } from '../scenario/edits.js';

/** @typedef {{from: number, to: number}} Range  offsets in the text */
/** @typedef {Range & {kind: 'scalar', value: string | number | boolean | null}} ScalarNode */
/** @typedef {Range & {kind: 'list', items: TextNode[]}} ListNode */
/** @typedef {{key: string, keyFrom: number, keyTo: number, value: TextNode}} TextPair */
/** @typedef {Range & {kind: 'map', pairs: TextPair[]}} MapNode */
/** @typedef {ScalarNode | ListNode | MapNode} TextNode */
/** @typedef {Range & {key: string, params?: Record<string, any>}} TextFault  `key` names the sentence */
/** @typedef {{root: TextNode | null, faults: TextFault[]}} Reading  a root only where there are no faults */

/** As the server: deeper is no scenario, but an attempt on the reader. */
export const MAX_DEPTH = 64;
/** As the server: a longer key is none that it knows. */
export const MAX_KEY_LENGTH = 1024;
/** Half of a character, which no text can hold. */
const HALF = /[\ud800-\udfff]/u;

/**
 * Counts of a step become [req_id, count] pairs: their order is the text's, which no object in JavaScript would keep.
 * @param {TextNode} node
 * @param {(string | number)[]} [path]
 * @returns {any}
 */
export function documentOf(node, path = []) {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item, index) => documentOf(item, [...path, index]));
  const entries = node.pairs.map(({ key, value }) => [key, documentOf(value, [...path, key])]);
  return isCounts(path) ? entries : Object.fromEntries(entries);
}

/** @param {(string | number)[]} path */
function isCounts(path) {
  return path.length === 3 && path[0] === 'steps' && path[2] === 'num_scheduled_tokens';
}

/**
 * Where in the text a pointer into the document leads: to the value, to the key where that is what is wrong, and to what
 * holds it where it is missing.
 * @param {TextNode} root
 * @param {string} where
 * @param {boolean} [isKey]
 * @returns {Range}
 */
export function placeIn(root, where, isKey = false) {
  let node = root;
  /** @type {Range} */
  let place = node;
  for (const [depth, key] of pointerKeys(where).entries()) {
    if (node.kind === 'list') {
      const item = node.items[Number(key)];
      if (!item) break;
      place = node = item;
    } else if (node.kind === 'map') {
      const pair = pairOf(node, key, where, depth);
      if (!pair) break;
      node = pair.value;
      const isLast = depth === pointerKeys(where).length - 1;
      place = (isLast && isKey) || node.from === node.to ? { from: pair.keyFrom, to: pair.keyTo } : node;
      if (pair.isName) return { from: pair.keyFrom, to: pair.keyTo };
    } else break;
  }
  return shown(place, root);
}

/**
 * @param {MapNode} node
 * @param {string} key
 * @param {string} where
 * @param {number} depth
 * @returns {(TextPair & {isName?: boolean}) | undefined}
 */
function pairOf(node, key, where, depth) {
  const keys = pointerKeys(where);
  if (depth === 3 && isCounts(keys.slice(0, 3))) {
    const pair = node.pairs[Number(key)];
    return pair && { ...pair, isName: keys[4] === '0' };
  }
  return node.pairs.findLast((pair) => pair.key === key);
}

/** The whole text is no place to look at: its beginning is. @param {Range} place @param {TextNode} root @returns {Range} */
function shown(place, root) {
  return place === root && root.kind !== 'scalar' ? { from: root.from, to: root.from } : { from: place.from, to: place.to };
}

/** Why a text cannot be read, and where. */
export class Unreadable extends Error {
  /** @param {string} key of the sentence @param {number} at @param {Record<string, any>} [params] */
  constructor(key, at, params) {
    super(key);
    this.at = at;
    this.params = params;
  }
}

/** What a document cannot hold, whatever the notation. @param {TextNode} root @returns {TextFault[]} */
export function treeFaults(root) {
  /** @type {TextFault[]} */
  const faults = [];
  const visit = (/** @type {TextNode} */ node) => {
    if (node.kind === 'list') node.items.forEach(visit);
    else if (node.kind === 'map') {
      const seen = new Set();
      for (const { key, keyFrom, keyTo, value } of node.pairs) {
        if (seen.has(key)) faults.push({ key: 'fault.duplicate_key', params: { key }, from: keyFrom, to: keyTo });
        seen.add(key);
        const at = { from: keyFrom, to: keyTo };
        const count = key.length > MAX_KEY_LENGTH ? [...key].length : 0;
        if (count > MAX_KEY_LENGTH)
          faults.push({ key: 'fault.unknown_key.too_long', params: { count, limit: MAX_KEY_LENGTH }, ...at });
        else if (HALF.test(key)) faults.push({ key: 'fault.schema.surrogate', ...at });
        visit(value);
      }
    } else if (typeof node.value === 'number' && !Number.isSafeInteger(node.value))
      faults.push({ key: 'text.number', from: node.from, to: node.to });
    else if (typeof node.value === 'string' && HALF.test(node.value))
      faults.push({ key: 'fault.schema.surrogate', from: node.from, to: node.to });
  };
  visit(root);
  return faults;
}

/** Line and column from 1, as editors count. @param {string} text @param {number} at */
export function lineColumn(text, at) {
  const before = text.slice(0, at).split(/\r\n?|\n/);
  return { line: before.length, column: before[before.length - 1].length + 1 };
}

/**
 * @param {string} text
 * @param {string} key
 * @param {number} from
 * @param {number} [to]
 * @param {Record<string, any>} [params]
 * @returns {Reading}
 */
export function unreadable(text, key, from, to = from, params = {}) {
  return { root: null, faults: [{ key, params: { ...lineColumn(text, from), ...params }, from, to }] };
}
