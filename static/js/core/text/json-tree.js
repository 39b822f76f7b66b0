// @ts-check
/** JSON as a tree of values with their places. As strict as the server; the first thing that is no JSON is its fault. */
import { MAX_DEPTH, Unreadable, treeFaults, unreadable } from './text-tree.js';

/** @typedef {import('./text-tree.js').TextNode} TextNode */
/** @typedef {import('./text-tree.js').TextPair} TextPair */
/** @typedef {import('./text-tree.js').Reading} Reading */

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const BLANK = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const WORDS = /** @type {[string, boolean | null][]} */ ([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** @param {string} text @returns {Reading} */
export function readJson(text) {
  const reader = new Reader(text);
  try {
    const root = reader.document();
    const faults = treeFaults(root);
    return { root: faults.length > 0 ? null : root, faults };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return unreadable(text, error.message, error.at, Math.min(error.at + 1, text.length), error.params);
  }
}

class Reader {
  #at = 0;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    if (text.startsWith('\ufeff')) this.#at = 1; // as some editors begin a file
  }

  document() {
    this.#blank();
    if (this.#at === this.text.length) throw new Unreadable('fault.bad_yaml.empty', 0);
    const root = this.#value(0);
    this.#blank();
    if (this.#at < this.text.length) throw new Unreadable('fault.bad_json.syntax.extra', this.#at);
    return root;
  }

  #blank() {
    this.#match(BLANK);
  }

  /** @param {RegExp} pattern sticky @returns {string | null} */
  #match(pattern) {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    this.#at += found?.length ?? 0;
    return found;
  }

  /** @param {string} character */
  #skip(character) {
    if (this.text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  /** @param {number} depth @returns {TextNode} */
  #value(depth) {
    const from = this.#at;
    if (depth > MAX_DEPTH) throw new Unreadable('fault.bad_json.depth', from, { limit: MAX_DEPTH });
    if (this.#skip('{')) return this.#map(from, depth);
    if (this.#skip('[')) return this.#list(from, depth);
    return { kind: 'scalar', value: this.#scalar(), from, to: this.#at };
  }

  #scalar() {
    if (this.text[this.#at] === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (!this.text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    const number = this.#match(NUMBER);
    if (!number) throw new Unreadable('fault.bad_json.syntax.value', this.#at);
    return /^-?\d+$/.test(number) ? Number(number) : NaN; // whole numbers are the only ones of a scenario
  }

  /** @returns {string} */
  #string() {
    const from = this.#at;
    const found = this.#match(STRING);
    if (found) return JSON.parse(found);
    // Where it stops being a string, and why.
    for (let at = from + 1; at < this.text.length; at += 1) {
      const character = this.text[at];
      if (character < ' ')
        throw new Unreadable(
          character === '\n' ? 'fault.bad_json.syntax.unterminated' : 'fault.bad_json.syntax.control_character',
          character === '\n' ? from : at,
        );
      if (character !== '\\') continue;
      if (!/^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(this.text.slice(at, at + 6)))
        throw new Unreadable('fault.bad_json.syntax.escape', at);
      at += 1;
    }
    throw new Unreadable('fault.bad_json.syntax.unterminated', from);
  }

  /** @param {number} from @param {number} depth @returns {TextNode} */
  #list(from, depth) {
    /** @type {TextNode[]} */
    const items = [];
    this.#blank();
    if (!this.#skip(']')) {
      do {
        this.#blank();
        this.#notBehindComma(']', items.length);
        items.push(this.#value(depth + 1));
        this.#blank();
      } while (this.#skip(','));
      if (!this.#skip(']')) throw new Unreadable('fault.bad_json.syntax.comma', this.#at);
    }
    return { kind: 'list', items, from, to: this.#at };
  }

  /** @param {number} from @param {number} depth @returns {TextNode} */
  #map(from, depth) {
    /** @type {TextPair[]} */
    const pairs = [];
    this.#blank();
    if (!this.#skip('}')) {
      do {
        this.#blank();
        this.#notBehindComma('}', pairs.length);
        if (this.text[this.#at] !== '"') throw new Unreadable('fault.bad_json.syntax.name', this.#at);
        const keyFrom = this.#at;
        const key = this.#string();
        const keyTo = this.#at;
        this.#blank();
        if (!this.#skip(':')) throw new Unreadable('fault.bad_json.syntax.colon', this.#at);
        this.#blank();
        pairs.push({ key, keyFrom, keyTo, value: this.#value(depth + 1) });
        this.#blank();
      } while (this.#skip(','));
      if (!this.#skip('}')) throw new Unreadable('fault.bad_json.syntax.comma', this.#at);
    }
    return { kind: 'map', pairs, from, to: this.#at };
  }

  /** @param {string} end @param {number} count */
  #notBehindComma(end, count) {
    if (count > 0 && this.text[this.#at] === end)
      throw new Unreadable('fault.bad_json.syntax.trailing_comma', this.text.lastIndexOf(',', this.#at));
  }
}
