// @ts-check
/**
 * The texts of YAML, as the server's reader takes them: without quotes, in quotes, and as a block of lines.
 *
 * In: a cursor at the beginning of one, and what is around it. Out: what it says and where it ends; the cursor stands behind
 * it, and behind the blanks that follow it.
 */
import { Unreadable } from './text-tree.js';
import { isBlank, isBlankOrEnd, isBreak, isBreakOrEnd } from './yaml-cursor.js';

/** @typedef {import('./yaml-cursor.js').Cursor} Cursor */
/** @typedef {{text: string, from: number, to: number, isPlain: boolean}} Text */
/** Blanks and breaks inside a text; `first` is the break that ends a line, null where none does. */
/** @typedef {{blanks: string, first: string | null, breaks: string}} Gap */

/** @type {Map<string, string>} */
const ESCAPES = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);
/** How many digits say which character. */
const HEX = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const BRACKETS = new Set(',[]{}');

/** @param {string} kind @param {number} at */
const fault = (kind, at) => new Unreadable(`fault.bad_yaml.${kind}`, at);

/**
 * @param {Cursor} cursor
 * @param {number} indent  how far in its further lines stand at least
 * @param {boolean} isInBrackets
 * @returns {Text & {isOverLines: boolean}} whether it ended with a line, or with several
 */
export function plainText(cursor, indent, isInBrackets) {
  const from = cursor.at;
  let to = from;
  let text = '';
  /** @type {Gap} */
  let gap = { blanks: '', first: null, breaks: '' };
  while (!cursor.documentMark && cursor.peek() !== '#') {
    const start = cursor.at;
    skipWords(cursor, isInBrackets);
    if (cursor.at > start) {
      text += folded(gap) + cursor.since(start);
      gap = { blanks: '', first: null, breaks: '' };
      to = cursor.at;
    }
    if (!isBlank(cursor.peek()) && !isBreak(cursor.peek())) break;
    gap = gapAt(cursor, { indent });
    if (!isInBrackets && cursor.column < indent) break;
  }
  return { text, from, to, isPlain: true, isOverLines: gap.first !== null };
}

/** Goes on up to a blank, or what ends a text without quotes. @param {Cursor} cursor @param {boolean} isInBrackets */
function skipWords(cursor, isInBrackets) {
  for (let character = cursor.peek(); !isBlankOrEnd(character); character = cursor.peek()) {
    if (character === ':') {
      const next = cursor.peek(1);
      if (isInBrackets && (BRACKETS.has(next) || next === '?')) throw fault('syntax', cursor.at);
      if (isBlankOrEnd(next)) return;
    } else if (isInBrackets && BRACKETS.has(character)) return;
    cursor.skip();
  }
}

/** @param {Cursor} cursor @returns {Text} */
export function quotedText(cursor) {
  const from = cursor.at;
  const quote = cursor.peek();
  cursor.skip();
  let text = '';
  for (;;) {
    if (cursor.documentMark || cursor.peek() === '') throw fault('syntax.quote', from);
    const words = quotedWords(cursor, quote);
    text += words.text;
    if (!words.isContinued && cursor.peek() === quote) break;
    text += folded(gapAt(cursor, words));
  }
  cursor.skip();
  return { text, from, to: cursor.at, isPlain: false };
}

/** Up to a blank or the quote; a break behind a backslash is no part of it. @param {Cursor} cursor @param {string} quote */
function quotedWords(cursor, quote) {
  let text = '';
  while (!isBlankOrEnd(cursor.peek())) {
    const character = cursor.peek();
    if (quote === "'" && character === "'" && cursor.peek(1) === "'") {
      text += "'";
      cursor.skip(2);
    } else if (character === quote) break;
    else if (quote === '"' && character === '\\' && isBreak(cursor.peek(1))) {
      cursor.skip();
      cursor.break();
      return { text, isContinued: true };
    } else if (quote === '"' && character === '\\') text += escaped(cursor);
    else {
      const start = cursor.at;
      cursor.skip();
      text += cursor.since(start);
    }
  }
  return { text, isContinued: false };
}

/** @param {Cursor} cursor */
function escaped(cursor) {
  const name = cursor.peek(1);
  const character = ESCAPES.get(name);
  if (character !== undefined) {
    cursor.skip(2);
    return character;
  }
  const length = HEX.get(name) ?? 0;
  const digits = cursor.text.slice(cursor.at + 2, cursor.at + 2 + length);
  const code = parseInt(digits, 16);
  const isCode = length > 0 && digits.length === length && /^[\da-f]+$/i.test(digits);
  if (!isCode || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw fault('syntax.escape', cursor.at);
  cursor.skip(2 + length);
  return String.fromCodePoint(code);
}

/**
 * @param {Cursor} cursor
 * @param {{isContinued?: boolean, indent?: number}} around  isContinued: a break went before; indent: up to where no tab
 *   may stand in front of a line
 * @returns {Gap}
 */
function gapAt(cursor, { isContinued = false, indent = 0 }) {
  let blanks = '';
  /** @type {string | null} */
  let first = isContinued ? '' : null;
  let breaks = '';
  for (let character = cursor.peek(); isBlank(character) || isBreak(character); character = cursor.peek()) {
    if (isBreak(character)) {
      if (first === null) first = cursor.break();
      else breaks += cursor.break();
    } else {
      if (first !== null && cursor.column < indent && character === '\t') throw fault('syntax.tab', cursor.at);
      if (first === null) blanks += character;
      cursor.skip();
    }
  }
  return { blanks, first, breaks };
}

/** What a gap is in the text: one break is a space. @param {Gap} gap */
function folded({ blanks, first, breaks }) {
  if (first === null) return blanks;
  return first === '\n' ? breaks || ' ' : first + breaks;
}

/**
 * @param {Cursor} cursor
 * @param {number} outer  the column of the block that it stands in, -1 outside all
 * @returns {Text}
 */
export function blockText(cursor, outer) {
  const from = cursor.at;
  const isFolded = cursor.peek() === '>';
  cursor.skip();
  const { chomping, more } = blockHeader(cursor);
  let to = cursor.at;
  if (cursor.peek() !== '') cursor.break();
  let lines = emptyLines(cursor, more && Math.max(outer, 0) + more, outer);
  const { indent } = lines;
  let text = '';
  let lineEnd = '';
  let wasBlank = false;
  while (cursor.column === indent && cursor.peek() !== '') {
    const isFurtherIn = isBlank(cursor.peek());
    const isJoined = isFolded && lineEnd === '\n' && !wasBlank && !isFurtherIn;
    text += (isJoined ? (lines.breaks === '' ? ' ' : '') : lineEnd) + lines.breaks;
    wasBlank = isFurtherIn;
    const start = cursor.at;
    cursor.skipLine();
    text += cursor.since(start);
    to = cursor.at;
    lineEnd = cursor.peek() === '' ? '' : cursor.break();
    lines = emptyLines(cursor, indent, outer);
  }
  if (chomping !== '-') text += lineEnd;
  if (chomping === '+') text += lines.breaks;
  return { text, from, to, isPlain: false };
}

/**
 * What stands behind `|` or `>`: what becomes of the breaks at the end, and how much further in the lines stand.
 * @param {Cursor} cursor
 */
function blockHeader(cursor) {
  const from = cursor.at;
  while (/[-+\d]/.test(cursor.peek()) && cursor.at < from + 2) cursor.skip();
  const header = /^(?:([-+])([1-9]?)|([1-9])([-+]?))?$/.exec(cursor.since(from));
  if (!header) throw fault('syntax', from);
  while (isBlank(cursor.peek())) cursor.skip();
  if (cursor.peek() === '#') cursor.skipLine();
  if (!isBreakOrEnd(cursor.peek())) throw fault('syntax', cursor.at);
  const [, before, digit, number, behind] = header;
  return { chomping: before ?? behind ?? '', more: Number(digit || number || 0) };
}

/**
 * The empty lines of a block, up to one that is none: where the indentation is not known yet, that line has it.
 * @param {Cursor} cursor @param {number} known @param {number} outer
 */
function emptyLines(cursor, known, outer) {
  let breaks = '';
  let most = 0;
  for (;;) {
    const isBefore = () => known === 0 || cursor.column < known;
    while (isBefore() && cursor.peek() === ' ') cursor.skip();
    most = Math.max(most, cursor.column);
    if (isBefore() && cursor.peek() === '\t') throw fault('syntax.tab', cursor.at);
    if (!isBreak(cursor.peek())) break;
    breaks += cursor.break();
  }
  return { breaks, indent: known || Math.max(most, outer + 1, 1) };
}
