// @ts-check
/**
 * YAML as a tree of values with their places, by the rules of the server's reader (app/scenario/format/parse_yaml.py): keys
 * are the text written, plain values what JSON would make of them, and no anchors, aliases, tags, directives or second
 * document. tests/scenario/test_text_twins.py holds the two against each other.
 */
import { MAX_DEPTH, Unreadable, treeFaults, unreadable } from './text-tree.js';
import { Tokens } from './yaml-tokens.js';

/** @typedef {import('./text-tree.js').TextNode} TextNode */
/** @typedef {import('./text-tree.js').TextPair} TextPair */
/** @typedef {import('./text-tree.js').Reading} Reading */
/** @typedef {import('./yaml-tokens.js').Kind} Kind */
/** @typedef {import('./yaml-tokens.js').Token} Token */

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const FRACTION = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** @type {Map<string, boolean | null>} */
const WORDS = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => /** @type {[string, null]} */ ([word, null])),
  ...['true', 'True', 'TRUE'].map((word) => /** @type {[string, boolean]} */ ([word, true])),
  ...['false', 'False', 'FALSE'].map((word) => /** @type {[string, boolean]} */ ([word, false])),
]);
const CONTROL = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

/** @param {string} text @returns {Reading} */
export function readYaml(text) {
  const isMarked = text.startsWith('\ufeff'); // as some editors begin a file
  const control = CONTROL.exec(isMarked ? text.slice(1) : text);
  const at = control ? control.index + Number(isMarked) : -1;
  if (control) return unreadable(text, 'fault.bad_yaml.control_character', at, at + 1);
  try {
    const root = new Reader(text).document();
    const faults = treeFaults(root);
    return { root: faults.length > 0 ? null : root, faults };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return unreadable(text, error.message, error.at, Math.min(error.at + 1, text.length), error.params);
  }
}

/** @param {string} kind @param {number} at @param {Record<string, any>} [params] */
const fault = (kind, at, params) => new Unreadable(`fault.bad_yaml.${kind}`, at, params);

class Reader {
  /** @param {string} text */
  constructor(text) {
    this.tokens = new Tokens(text);
  }

  /** @returns {TextNode} */
  document() {
    if (this.#isNext('stream end')) throw fault('empty', 0);
    const isEmpty = this.#skip('document start') && this.#isNext('document start', 'document end', 'stream end');
    const root = isEmpty ? nothing(this.tokens.next.from) : this.#block(0, false);
    while (this.#skip('document end'));
    if (this.#isNext('document start')) throw fault('documents', this.tokens.next.from);
    if (!this.#isNext('stream end')) throw fault('syntax', this.tokens.next.from);
    return root;
  }

  /** @param {Kind[]} kinds */
  #isNext(...kinds) {
    return kinds.includes(this.tokens.next.kind);
  }

  /** @param {Kind} kind */
  #skip(kind) {
    return this.#isNext(kind) ? this.tokens.take() : null;
  }

  /**
   * What a block holds: one of its own, something in brackets, a text.
   * @param {number} depth @param {boolean} isListBare  a list that stands no further in than the key it belongs to
   * @returns {TextNode}
   */
  #block(depth, isListBare) {
    this.#refuse();
    if (isListBare && this.#isNext('-')) return this.#list(this.#enter(depth), depth, true);
    if (this.#isNext('block list')) return this.#list(this.#enter(depth), depth, false);
    if (this.#isNext('block map')) return this.#map(this.#enter(depth), depth);
    return this.#value(depth);
  }

  /** What brackets hold. @param {number} depth @returns {TextNode} */
  #value(depth) {
    this.#refuse();
    if (this.#isNext('[')) return this.#listInBrackets(this.#enter(depth), depth);
    if (this.#isNext('{')) return this.#mapInBrackets(this.#enter(depth), depth);
    const { kind, from, to, text, isPlain } = this.tokens.next;
    if (kind !== 'text') throw fault('syntax.value', from);
    this.tokens.take();
    return { kind: 'scalar', value: isPlain ? plain(text) : text, from, to };
  }

  /** Marks that no scenario needs. */
  #refuse() {
    const { kind, from, text } = this.tokens.next;
    if (kind === 'alias' || kind === 'anchor') throw fault(kind, from, { name: text });
    if (kind === 'tag') throw fault(kind, from, { name: text });
  }

  /** Where a list or a map begins. @param {number} depth */
  #enter(depth) {
    const { from } = this.tokens.next;
    if (depth >= MAX_DEPTH) throw fault('depth', from, { limit: MAX_DEPTH });
    return from;
  }

  /** @param {number} from @param {number} depth @param {boolean} isBare @returns {TextNode} */
  #list(from, depth, isBare) {
    /** @type {TextNode[]} */
    const items = [];
    if (!isBare) this.tokens.take();
    /** @type {Kind[]} */
    const ends = isBare ? ['-', 'key', 'value', 'block end'] : ['-', 'block end'];
    for (let dash = this.#skip('-'); dash; dash = this.#skip('-'))
      items.push(this.#isNext(...ends) ? nothing(dash.to) : this.#block(depth + 1, false));
    if (!isBare && !this.#skip('block end')) throw fault('syntax.indent', this.tokens.next.from);
    return { kind: 'list', items, from, to: items[items.length - 1].to };
  }

  /** @param {number} from @param {number} depth @returns {TextNode} */
  #map(from, depth) {
    /** @type {TextPair[]} */
    const pairs = [];
    this.tokens.take();
    for (let mark = this.#skip('key'); mark; mark = this.#skip('key')) {
      if (this.#isNext('key', 'value', 'block end')) throw fault('empty_key', mark.to);
      const key = this.#key(() => this.#block(depth + 1, true), true);
      const colon = this.#skip('value');
      const isEmpty = !colon || this.#isNext('key', 'value', 'block end');
      pairs.push(pair(key, isEmpty ? null : this.#block(depth + 1, true)));
    }
    if (!this.#skip('block end')) throw fault('syntax.indent', this.tokens.next.from);
    return { kind: 'map', pairs, from, to: pairs[pairs.length - 1].value.to };
  }

  /** A text as it is written. @param {() => TextNode} read @param {boolean} [isBlock] @returns {TextNode} */
  #key(read, isBlock = false) {
    const { kind, from, to, text } = this.tokens.next;
    if (['[', '{', 'block list', 'block map'].includes(kind) || (isBlock && kind === '-')) throw fault('key', from);
    const node = read();
    return node.kind === 'scalar' ? { kind: 'scalar', value: text, from, to } : node;
  }

  /** @param {number} from @param {number} depth @returns {TextNode} */
  #listInBrackets(from, depth) {
    /** @type {TextNode[]} */
    const items = [];
    this.tokens.take();
    while (!this.#isNext(']')) {
      this.#separate(items[items.length - 1]);
      if (this.#isNext(']')) break;
      items.push(this.#isNext('key') ? this.#pairInBrackets(this.#enter(depth + 1), depth + 1) : this.#value(depth + 1));
    }
    return { kind: 'list', items, from, to: this.tokens.take().to };
  }

  /** A map of one pair, without brackets of its own. @param {number} from @param {number} depth @returns {TextNode} */
  #pairInBrackets(from, depth) {
    const mark = this.tokens.take();
    if (this.#isNext('value', ',', ']')) throw fault('empty_key', mark.to);
    const key = this.#key(() => this.#value(depth + 1));
    const colon = this.#skip('value');
    const value = !colon || this.#isNext(',', ']') ? null : this.#value(depth + 1);
    const one = pair(key, value);
    return { kind: 'map', pairs: [one], from, to: one.value.to };
  }

  /** @param {number} from @param {number} depth @returns {TextNode} */
  #mapInBrackets(from, depth) {
    /** @type {TextPair[]} */
    const pairs = [];
    this.tokens.take();
    while (!this.#isNext('}')) {
      this.#separate(pairs[pairs.length - 1]?.value);
      if (this.#isNext('}')) break;
      const mark = this.#skip('key');
      if (!mark) {
        pairs.push(
          pair(
            this.#key(() => this.#value(depth + 1)),
            null,
          ),
        );
        continue;
      }
      if (this.#isNext('value', ',', '}')) throw fault('empty_key', mark.to);
      const key = this.#key(() => this.#value(depth + 1));
      const colon = this.#skip('value');
      pairs.push(pair(key, !colon || this.#isNext(',', '}') ? null : this.#value(depth + 1)));
    }
    return { kind: 'map', pairs, from, to: this.tokens.take().to };
  }

  /**
   * The comma behind an entry. One that is missed on the next line is wanted at the end of this one.
   * @param {TextNode} [last]
   */
  #separate(last) {
    if (!last || this.#skip(',')) return;
    const { from } = this.tokens.next;
    throw fault('syntax.bracket', this.tokens.text.slice(last.to, from).includes('\n') ? last.to : from);
  }
}

/** Nothing where something could be. @param {number} at @returns {import('./text-tree.js').ScalarNode} */
function nothing(at) {
  return { kind: 'scalar', value: null, from: at, to: at };
}

/** @param {TextNode} key @param {TextNode | null} value @returns {TextPair} */
function pair(key, value) {
  const name = key.kind === 'scalar' ? String(key.value ?? '') : '';
  return { key: name, keyFrom: key.from, keyTo: key.to, value: value ?? nothing(key.to) };
}

/** @param {string} text */
function plain(text) {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (INTEGER.test(text)) return Number(text);
  return FRACTION.test(text) ? NaN : text; // whole numbers are the only ones of a scenario
}
