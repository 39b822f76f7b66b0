// @ts-check
/**
 * A text that somebody wrote, brought up to date with a draft that changed elsewhere: only what says something else now is
 * written anew, so that comments and layout stay. Where that cannot be done, the caller writes the whole text.
 */
import { inline } from './scenario-text.js';

/** @typedef {import('./text-tree.js').TextNode} TextNode */
/** @typedef {import('./text-tree.js').ListNode} ListNode */
/** @typedef {import('./text-tree.js').MapNode} MapNode */
/** @typedef {import('./scenario-text.js').Notation} Notation */
/** @typedef {{from: number, to: number, insert: string}} Change */

/**
 * @param {string} text
 * @param {TextNode} root what it says
 * @param {any} document what it is to say
 * @param {Notation} notation
 * @returns {string | null} null: it is not a matter of a few places
 */
export function rewritten(text, root, document, notation) {
  const changes = new Differences(text, notation).between(root, document);
  if (!changes) return null;
  let result = text;
  for (const { from, to, insert } of changes.toSorted((a, b) => b.from - a.from))
    result = result.slice(0, from) + insert + result.slice(to);
  return result;
}

class Differences {
  /** @param {string} text @param {Notation} notation */
  constructor(text, notation) {
    this.text = text;
    this.notation = notation;
  }

  /** @param {TextNode} node @param {any} value @returns {Change[] | null} */
  between(node, value) {
    const inside =
      node.kind === 'scalar'
        ? this.#ofScalar(node, value)
        : node.kind === 'list'
          ? this.#ofList(node, value)
          : this.#ofMap(node, value);
    return inside ?? this.#whole(node, value);
  }

  /** @param {import('./text-tree.js').ScalarNode} node @param {any} value */
  #ofScalar({ value: old }, value) {
    return old === value ? [] : null;
  }

  /** @param {ListNode} node @param {any} value */
  #ofList({ items }, value) {
    if (!Array.isArray(value)) return null;
    const common = Math.min(items.length, value.length);
    const changes = this.#all(items.slice(0, common).map((item, index) => this.between(item, value[index])));
    if (!changes || items.length === value.length) return changes;
    // Lines at the end of a list that goes down the page.
    const last = items[common - 1];
    const indent = last && /(?:^|\n)([ ]*)- $/.exec(this.text.slice(0, last.from))?.[1];
    if (indent === undefined || this.notation === 'json') return null;
    const end = this.#lineEnd(last.to);
    const added = value.slice(common).map((entry) => `\n${indent}- ${inline(entry, this.notation)}`);
    const removed = items.length > common ? this.#lineEnd(items[items.length - 1].to) : end;
    return [...changes, { from: end, to: removed, insert: added.join('') }];
  }

  /** @param {MapNode} node @param {any} value an object, or pairs where order matters */
  #ofMap({ pairs }, value) {
    const isPairs = Array.isArray(value);
    if (
      typeof value !== 'object' ||
      value === null ||
      (isPairs && !value.every((pair) => Array.isArray(pair) && pair.length === 2))
    )
      return null;
    const entries = (isPairs ? value : Object.entries(value)).filter(([, inner]) => inner !== undefined);
    if (entries.length !== pairs.length) return null;
    if (isPairs && !entries.every(([name], place) => pairs[place].key === name)) return null;
    const values = new Map(entries);
    return pairs.every(({ key }) => values.has(key))
      ? this.#all(pairs.map((pair) => this.between(pair.value, values.get(pair.key))))
      : null;
  }

  /** @param {(Change[] | null)[]} found */
  #all(found) {
    return found.every((changes) => changes !== null) ? found.flat() : null;
  }

  /**
   * What stands on one line, and says nothing else beside, is replaced.
   * @param {TextNode} node
   * @param {any} value
   * @returns {Change[] | null}
   */
  #whole(node, value) {
    const old = this.text.slice(node.from, node.to);
    const isOneThing = node.kind === 'scalar' ? typeof value !== 'object' || value === null : /^[{[]/.test(old);
    if (!isOneThing || old === '' || /[\n#]/.test(old) || (typeof value === 'string' && /\n/.test(value))) return null;
    const counts = Array.isArray(value) && node.kind === 'map' ? new Map(value) : value;
    return [{ from: node.from, to: node.to, insert: inline(counts, this.notation) }];
  }

  /** @param {number} at */
  #lineEnd(at) {
    const end = this.text.indexOf('\n', at);
    return end < 0 ? this.text.length : end;
  }
}
