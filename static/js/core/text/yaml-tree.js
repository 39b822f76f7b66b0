// @ts-check
/**
 * YAML as a tree of values with their places, by the rules of the server's reader (app/scenario/format/parse_yaml.py):
 * keys are
 * the text written, plain values what JSON would make of them, and no anchors, aliases, tags, directives or second document.
 *
 * The library is handed in: it is large, and loaded only once somebody looks at the text.
 */
import { MAX_DEPTH, treeFaults, unreadable } from './text-tree.js';

/** @typedef {import('./text-tree.js').TextNode} TextNode */
/** @typedef {import('./text-tree.js').TextPair} TextPair */
/** @typedef {import('./text-tree.js').Reading} Reading */
/** @typedef {typeof import('../../../vendor/yaml/yaml.js')} Library */

const OPTIONS = { schema: 'failsafe', version: '1.2', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' };
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const FRACTION = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
/** @type {Map<string, boolean | null>} */
const WORDS = new Map([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => /** @type {[string, null]} */ ([word, null])),
  ...['true', 'True', 'TRUE'].map((word) => /** @type {[string, boolean]} */ ([word, true])),
  ...['false', 'False', 'FALSE'].map((word) => /** @type {[string, boolean]} */ ([word, false])),
]);

/** What `!!` stands for. */
const CORE = /^tag:yaml\.org,2002:/;

/** What the library calls it -> the key of our sentence. @type {Record<string, string>} */
const SYNTAX = {
  TAB_AS_INDENT: 'syntax.tab',
  BAD_SCALAR_START: 'syntax.character',
  BAD_DQ_ESCAPE: 'syntax.escape',
  BLOCK_AS_IMPLICIT_KEY: 'syntax.colon',
  MULTILINE_IMPLICIT_KEY: 'syntax.no_colon',
  KEY_OVER_1024_CHARS: 'syntax.no_colon',
  BLOCK_IN_FLOW: 'syntax.bracket',
  BAD_INDENT: 'syntax.indent',
  BAD_COLLECTION_TYPE: 'syntax.indent',
  UNEXPECTED_TOKEN: 'syntax.indent',
  MULTIPLE_ANCHORS: 'anchor',
  MULTIPLE_TAGS: 'tag',
  TAG_RESOLVE_FAILED: 'tag',
  BAD_DIRECTIVE: 'directive',
};

class Refusal extends Error {
  /** @param {string} key @param {number} at @param {Record<string, any>} [params] */
  constructor(key, at, params) {
    super(key);
    this.at = at;
    this.params = params;
  }
}

/** @param {Library} yaml @param {string} text @returns {Reading} */
export function readYaml(yaml, text) {
  const control = /[^\t\n\r\x20-\x7e\x85\xa0-\ufefe\uff00-\ufffd]/u.exec(text.replace(/[\u{10000}-\u{10ffff}]/gu, '  '));
  if (control) return unreadable(text, 'fault.bad_yaml.control_character', control.index, control.index + 1);
  try {
    const tokens = [...new yaml.Parser().parse(text)];
    const deep = tooDeep(tokens);
    if (deep) return unreadable(text, 'fault.bad_yaml.depth', deep.offset, deep.offset + 1, { limit: MAX_DEPTH });
    const documents = [...new yaml.Composer(OPTIONS).compose(tokens)];
    const first = documents[0];
    if (!first || (first.contents === null && first.errors.length === 0)) return unreadable(text, 'fault.bad_yaml.empty', 0);
    const wrong = first.errors[0];
    if (first.directives.yaml.explicit || Object.keys(first.directives.tags).length > 1)
      return unreadable(text, 'fault.bad_yaml.directive', text.search(/^%/m));
    if (wrong) return syntaxFault(text, wrong, () => openQuote(yaml, first.contents, wrong.pos[0]));
    const root = toTree(yaml, text, first.contents, 0);
    if (documents.length > 1) return unreadable(text, 'fault.bad_yaml.documents', documents[1].range[0]);
    const faults = treeFaults(root);
    return { root: faults.length > 0 ? null : root, faults };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return unreadable(text, error.message, error.at, Math.min(error.at + 1, text.length), error.params);
  }
}

/**
 * What is nested deeper than any scenario. Composing goes down by calling itself, and a browser whose stack ends inside a
 * regular expression takes the whole page with it: it is not begun.
 * @param {any[]} tokens
 */
function tooDeep(tokens) {
  let layer = tokens.flatMap(({ value }) => value ?? []);
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0; depth += 1) {
    layer = layer.flatMap(({ items }) =>
      (items ?? []).flatMap((/** @type {any} */ { key, value }) => [key ?? [], value ?? []].flat()),
    );
  }
  return layer.find(({ items }) => items);
}

/**
 * @param {string} text
 * @param {{code: string, message: string, pos: [number, number]}} wrong
 * @param {() => number} quote where an open quote begins
 * @returns {Reading}
 */
function syntaxFault(text, { code, message, pos: [from, to] }, quote) {
  let kind = SYNTAX[code] ?? 'syntax';
  if (code === 'MISSING_CHAR')
    kind = /quote/.test(message)
      ? 'syntax.quote'
      : /implicit (map )?key|:/.test(message)
        ? 'syntax.no_colon'
        : 'syntax.bracket';
  if (/flow (?:map|seq)/i.test(message)) kind = 'syntax.bracket';
  if (/block sequence may not/.test(message)) kind = 'syntax.indent';
  if (text[from] === '\t') kind = 'syntax.tab';
  // A bracket is missed on the next line; it is wanted at the end of this one.
  const start =
    kind === 'syntax.quote'
      ? quote()
      : kind === 'syntax.bracket' && /sufficiently/.test(message)
        ? text.slice(0, from).trimEnd().length
        : Math.min(from, text.length);
  return unreadable(text, `fault.bad_yaml.${kind}`, start, Math.min(Math.max(to, start + 1), text.length), {
    problem: message,
    name: text.slice(from, to).split('\n')[0].slice(0, 40),
  });
}

/**
 * The text in quotes that goes on to the place where its end is missed.
 * @param {Library} yaml
 * @param {any} node
 * @param {number} end
 * @returns {number}
 */
function openQuote(yaml, node, end) {
  /** @type {any[]} */
  const inside = yaml.isMap(node)
    ? node.items.flatMap((/** @type {any} */ { key, value }) => [key, value])
    : yaml.isSeq(node)
      ? node.items
      : [];
  const last = inside.findLast((one) => one?.range && one.range[0] <= end);
  return last ? openQuote(yaml, last, end) : (node?.range?.[0] ?? end);
}

/** @param {Library} yaml @param {string} text @param {any} node @param {number} depth @returns {TextNode} */
function toTree(yaml, text, node, depth) {
  const [from, to] = node.range;
  if (yaml.isAlias(node)) throw new Refusal('fault.bad_yaml.alias', from, { name: node.source });
  if (node.anchor) throw new Refusal('fault.bad_yaml.anchor', text.lastIndexOf('&', from), { name: node.anchor });
  if (node.tag)
    throw new Refusal('fault.bad_yaml.tag', text.slice(0, from).search(/!\S*\s*$/), { name: node.tag.replace(CORE, '!!') });
  if (yaml.isScalar(node))
    return { kind: 'scalar', value: node.type === 'PLAIN' ? plain(node.source ?? '') : node.value, from, to };
  if (depth >= MAX_DEPTH) throw new Refusal('fault.bad_yaml.depth', from, { limit: MAX_DEPTH });
  if (yaml.isSeq(node))
    return {
      kind: 'list',
      items: node.items.map((/** @type {any} */ item) => toTree(yaml, text, item, depth + 1)),
      from,
      to,
    };
  return { kind: 'map', pairs: node.items.map((/** @type {any} */ pair) => toPair(yaml, text, pair, depth)), from, to };
}

/** @param {Library} yaml @param {string} text @param {any} pair @param {number} depth @returns {TextPair} */
function toPair(yaml, text, { key, value }, depth) {
  if (!yaml.isScalar(key) && !yaml.isAlias(key)) throw new Refusal('fault.bad_yaml.key', key.range[0]);
  const { from: keyFrom, to: keyTo } = toTree(yaml, text, key, depth + 1);
  const name = key.type === 'PLAIN' ? (key.source ?? '') : String(key.value);
  return {
    key: name,
    keyFrom,
    keyTo,
    value: value ? toTree(yaml, text, value, depth + 1) : { kind: 'scalar', value: null, from: keyTo, to: keyTo },
  };
}

/** @param {string} text */
function plain(text) {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (INTEGER.test(text)) return Number(text);
  return FRACTION.test(text) ? NaN : text; // whole numbers are the only ones of a scenario
}
