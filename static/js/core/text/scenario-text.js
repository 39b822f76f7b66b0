// @ts-check
/**
 * A scenario written out for people, as YAML or JSON: defaults dropped, fields in the format's order, a request or a step
 * on one line where it fits. What is written reads back as the same scenario, by any reader of the notation.
 */
import { compact } from '../scenario/compact.js';

/** @typedef {import('../scenario/edits.js').Scenario} Scenario */
/** @typedef {import('../scenario/format.js').Format} Format */
/** @typedef {'yaml' | 'json'} Notation */

const WIDTH = 100;
const INDENT = '  ';

/**
 * How a notation writes what every notation has.
 * @typedef {{key: (name: string) => string, scalar: (value: any) => string}} Writer
 */
/** Names of fields that are written down the page: always, or where one line is too short.
 *  @typedef {{open: Set<string>, openIfLong: Set<string>}} Layout */

/** @param {Format} format @param {Scenario} draft @param {Notation} notation */
export function writeScenario(format, draft, notation) {
  const plain = ordered(format, compact(format, draft));
  if (Array.isArray(plain.steps)) plain.steps = plain.steps.map((/** @type {any} */ step) => withCounts(step, notation));
  // A group is known by its name and block size, even where these are the default.
  const groups = draft.config?.kv_cache_groups;
  if (Array.isArray(groups) && Array.isArray(plain.config?.kv_cache_groups))
    plain.config = { ...plain.config, kv_cache_groups: groups.map(withoutNull) };
  return notation === 'yaml' ? writeYaml(plain, layoutOf(format)) : writeJson(plain, layoutOf(format));
}

/** A value along a line, without regard to what it is of. @param {any} value @param {Notation} notation */
export function inline(value, notation) {
  const { num_scheduled_tokens: counts } = isObject(value) ? value : {};
  return flat(Array.isArray(counts) ? withCounts(value, notation) : value, notation === 'yaml' ? YAML : JSON_);
}

/** @param {any} group */
function withoutNull(group) {
  return isObject(group)
    ? Object.fromEntries(Object.entries(group).filter(([, value]) => value !== null && value !== undefined))
    : group;
}

/**
 * Fields in the format's order; what is no field keeps its place behind them.
 * @param {Format} format
 * @param {any} value
 * @returns {any}
 */
function ordered(format, value) {
  if (Array.isArray(value)) return value.map((entry) => ordered(format, entry));
  if (!isObject(value)) return value;
  const known = [...format.keys()].filter((name) => Object.hasOwn(value, name));
  const others = Object.keys(value).filter((name) => !format.has(name));
  return Object.fromEntries(
    [...known, ...others].map((name) => {
      const part = format.get(name)?.part;
      return [name, part ? ordered(part, value[name]) : value[name]];
    }),
  );
}

/**
 * What the scenario itself holds objects in stands on lines of its own, field by field or entry by entry; what these hold
 * objects in does where one line is too short. Everything else is written along a line.
 * @param {Format} format
 * @returns {Layout}
 */
function layoutOf(format) {
  const holding = (/** @type {Format} */ fields) =>
    [...fields].flatMap(([name, { part }]) => (part ? [{ name, part }] : []));
  const open = holding(format);
  return {
    open: new Set(open.map(({ name }) => name)),
    openIfLong: new Set(open.flatMap(({ part }) => holding(part).map(({ name }) => name))),
  };
}

/**
 * Ordered pairs are written as an object, which is easier to read, wherever every reader keeps its order.
 * @param {any} step
 * @param {Notation} notation
 */
function withCounts(step, notation) {
  const pairs = step?.num_scheduled_tokens;
  if (
    !Array.isArray(pairs) ||
    !pairs.every((pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string')
  )
    return step;
  const names = pairs.map(([name]) => name);
  // JavaScript's own JSON reader puts names that look like numbers first.
  const isReordered = notation === 'json' && names.some((name) => /^\d+$/.test(name));
  if (isReordered || new Set(names).size < names.length) return step;
  return { ...step, num_scheduled_tokens: new Map(pairs.map(([name, count]) => [name, count])) };
}

/** @param {any} document @param {Layout} layout */
function writeYaml(document, layout) {
  /** @type {string[]} */
  const lines = [];
  for (const [name, value] of Object.entries(document)) field(lines, '', name, value, layout);
  return `${lines.join('\n')}\n`;
}

/** @param {string[]} lines @param {string} indent @param {string} name @param {any} value @param {Layout} layout */
function field(lines, indent, name, value, layout) {
  const start = `${indent}${YAML.key(name)}:`;
  const isOpen = opens(name, value, `${start} `, YAML, layout);
  if (isOpen && Array.isArray(value)) {
    lines.push(start);
    for (const entry of value) item(lines, indent + INDENT, entry, layout);
  } else if (isOpen && isObject(value)) {
    lines.push(start);
    for (const [key, one] of Object.entries(value)) field(lines, indent + INDENT, key, one, layout);
  } else if (typeof value === 'string') lines.push(...textLines(start, indent + INDENT, value));
  else lines.push(...along(`${start} `, value, indent + INDENT, YAML));
}

/**
 * Whether what a field holds is written down the page.
 * @param {string} name
 * @param {any} value
 * @param {string} start
 * @param {Writer} writer
 * @param {Layout} layout
 */
function opens(name, value, start, writer, { open, openIfLong }) {
  return size(value) > 0 && (open.has(name) || (openIfLong.has(name) && (start + flat(value, writer)).length > WIDTH));
}

/** @param {string[]} lines @param {string} indent @param {any} entry @param {Layout} layout */
function item(lines, indent, entry, layout) {
  const line = `${indent}- ${flat(entry, YAML)}`;
  if (line.length <= WIDTH || !isObject(entry) || size(entry) === 0) {
    lines.push(...(line.length <= WIDTH ? [line] : along(`${indent}- `, entry, indent + INDENT, YAML)));
    return;
  }
  /** @type {string[]} */
  const fields = [];
  for (const [key, value] of Object.entries(entry)) field(fields, indent + INDENT, key, value, layout);
  fields[0] = `${indent}- ${fields[0].slice(indent.length + INDENT.length)}`;
  lines.push(...fields);
}

/**
 * A text under a key: as it is where that is unmistakable, long ones folded, several lines as lines.
 * @param {string} start
 * @param {string} indent
 * @param {string} text
 */
function textLines(start, indent, text) {
  const isSimple = !UNPRINTABLE.test(text) && /^\S/.test(text) && !/[ \t]$/m.test(text) && !text.includes('\t');
  const body = text.replace(/\n$/, '');
  if (isSimple && body.includes('\n') && !body.endsWith('\n')) {
    return [
      `${start} |${text.endsWith('\n') ? '' : '-'}`,
      ...body.split('\n').map((line) => (line === '' ? '' : indent + line)),
    ];
  }
  const line = `${start} ${isPlain(text, false) ? text : quoted(text)}`;
  if (line.length <= WIDTH || !isSimple || text.includes('\n') || text.includes('  ')) return [line];
  return [`${start} >-`, ...wrapped(text.split(' '), indent, ' ')];
}

/** @param {any} document @param {Layout} layout */
function writeJson(document, layout) {
  const lines = Object.entries(document).map(([name, value]) => jsonField(INDENT, name, value, layout));
  return lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n`;
}

/** @param {string} indent @param {string} name @param {any} value @param {Layout} layout @returns {string} */
function jsonField(indent, name, value, layout) {
  const start = `${indent}${JSON_.key(name)}: `;
  if (!opens(name, value, start, JSON_, layout)) return along(start, value, indent + INDENT, JSON_).join('\n');
  if (Array.isArray(value))
    return `${start}[\n${value.map((entry) => jsonItem(indent + INDENT, entry, layout)).join(',\n')}\n${indent}]`;
  if (!isObject(value)) return start + flat(value, JSON_);
  return `${start}{\n${Object.entries(value)
    .map(([key, one]) => jsonField(indent + INDENT, key, one, layout))
    .join(',\n')}\n${indent}}`;
}

/** @param {string} indent @param {any} entry @param {Layout} layout */
function jsonItem(indent, entry, layout) {
  const line = indent + flat(entry, JSON_);
  if (line.length <= WIDTH) return line;
  if (!isObject(entry)) return along(indent, entry, indent + INDENT, JSON_).join('\n');
  return `${indent}{\n${Object.entries(entry)
    .map(([key, one]) => jsonField(indent + INDENT, key, one, layout))
    .join(',\n')}\n${indent}}`;
}

/**
 * Along one line, or along several where it is too long for one.
 * @param {string} start
 * @param {any} value
 * @param {string} indent
 * @param {Writer} writer
 * @returns {string[]}
 */
function along(start, value, indent, writer) {
  const line = start + flat(value, writer);
  if (line.length <= WIDTH || size(value) === 0) return [line];
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = partsOf(value, writer).map((part, place, all) => (place < all.length - 1 ? `${part},` : part + close));
  const [first, ...rest] = wrapped(parts, indent, ' ', start.length + 1);
  return [start + open + first.slice(indent.length), ...rest];
}

/**
 * Words put together to lines.
 * @param {string[]} words
 * @param {string} indent
 * @param {string} between
 * @param {number} [begun] how long the first line is already
 */
function wrapped(words, indent, between, begun = indent.length) {
  const lines = [indent];
  let length = begun;
  for (const word of words) {
    const isFirst = lines[lines.length - 1] === indent;
    if (!isFirst && length + between.length + word.length > WIDTH) {
      lines.push(indent + word);
      length = indent.length + word.length;
    } else {
      lines[lines.length - 1] += isFirst ? word : between + word;
      length += word.length + (isFirst ? 0 : between.length);
    }
  }
  return lines;
}

/** @param {any} value @param {Writer} writer @returns {string} */
function flat(value, writer) {
  if (Array.isArray(value)) return `[${partsOf(value, writer).join(', ')}]`;
  return isObject(value) ? `{${partsOf(value, writer).join(', ')}}` : writer.scalar(value);
}

/** @param {any} value @param {Writer} writer @returns {string[]} */
function partsOf(value, writer) {
  if (Array.isArray(value)) return value.map((entry) => flat(entry, writer));
  return entriesOf(value).map(([key, entry]) => `${writer.key(key)}: ${flat(entry, writer)}`);
}

/** @param {any} value @returns {[string, any][]} */
function entriesOf(value) {
  return value instanceof Map ? [...value] : Object.entries(value);
}

/** @param {any} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {any} value */
function size(value) {
  return Array.isArray(value) ? value.length : isObject(value) ? entriesOf(value).length : 0;
}

/** @type {Writer} */
const YAML = {
  key: (name) => (isPlain(name, true) ? name : quoted(name)),
  scalar: (value) => (typeof value === 'string' ? (isPlain(value, true) ? value : quoted(value)) : JSON.stringify(value)),
};

/** @type {Writer} */
const JSON_ = { key: quoted, scalar: (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value)) };

const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/;
/** What some reader of YAML, of any version, takes for something else than a text. */
const AMBIGUOUS = /^(?:[-+.]?\d.*|[-+.].*|y|n|yes|no|on|off|true|false|null|~|=|<<)$/i;

/** Whether a text may stand without quotes. @param {string} text @param {boolean} isInFlow beside brackets and commas */
function isPlain(text, isInFlow) {
  if (text === '' || text.length > 1000 || UNPRINTABLE.test(text) || AMBIGUOUS.test(text)) return false;
  if (/[\n\t"']|^[\s\-?:,[\]{}#&*!|>%@`]|\s$|:(?:\s|$)|\s#/.test(text)) return false;
  return !(isInFlow && /[,[\]{}:]/.test(text));
}

/** JSON's text is YAML's too, once what YAML does not print is escaped. @param {string} text */
function quoted(text) {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
