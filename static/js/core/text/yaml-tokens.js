// @ts-check
/**
 * YAML cut into tokens, as the server's reader (libyaml) cuts it: brackets and commas, the dashes, question marks and colons
 * of blocks, texts; and, where the indentation says so, where a block begins and ends.
 *
 * That a text is a key is known only when its colon comes: the place of what could still be one is kept, one for each
 * bracket that is open, and the key's token goes in before it.
 */
import { Unreadable } from './text-tree.js';
import { Cursor, isBlank, isBlankOrEnd, isBreak } from './yaml-cursor.js';
import { blockText, plainText, quotedText } from './yaml-texts.js';

/**
 * @typedef {'stream end' | 'document start' | 'document end' | 'block list' | 'block map' | 'block end' | '[' |
 *   ']' | '{' | '}' | ',' | '-' | 'key' | 'value' | 'alias' | 'anchor' | 'tag' | 'text'} Kind
 */
/** @typedef {{kind: Kind, from: number, to: number, text: string, isPlain: boolean}} Token */
/**
 * What may turn out to be a key: `number` of its token, counted from the first of all.
 * @typedef {{isPossible: boolean, isRequired: boolean, number: number, at: number, index: number, line: number, column:
 *   number}} Candidate
 */

/** A key that is not marked as one is no longer than this. */
const MAX_KEY = 1024;

/** The kind of fault -> its sentence. @param {string} kind @param {number} at */
const fault = (kind, at) => new Unreadable(`fault.bad_yaml.${kind}`, at);

export class Tokens {
  /** @type {Token[]} */
  #waiting = [];
  #taken = 0;
  #isOver = false;
  /** Nothing goes in before the next token any more. */
  #isSettled = false;
  /** The columns of the blocks that are open. @type {number[]} */
  #indents = [];
  #indent = -1;
  /** A key may begin here. */
  #isKeyAllowed = true;
  /** One for each bracket that is open, and one outside them. @type {Candidate[]} */
  #candidates = [noKey()];

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.cursor = new Cursor(text);
  }

  /** The next token, which stays. @returns {Token} */
  get next() {
    if (!this.#isSettled) while (!this.#isOver && (this.#waiting.length === 0 || this.#mayBeKey())) this.#scan();
    this.#isSettled = true;
    return this.#waiting[0];
  }

  /** The next token, which goes. @returns {Token} */
  take() {
    const token = this.next;
    this.#waiting.shift();
    this.#taken += 1;
    this.#isSettled = false;
    return token;
  }

  /** Whether the next token could still become a key. */
  #mayBeKey() {
    let may = false;
    for (const candidate of this.#candidates) if (this.#isValid(candidate) && candidate.number === this.#taken) may = true;
    return may;
  }

  /** Whether a candidate can still be a key: on the same line, and not too long. @param {Candidate} candidate */
  #isValid(candidate) {
    if (!candidate.isPossible) return false;
    if (candidate.line === this.cursor.line && candidate.index + MAX_KEY >= this.cursor.index) return true;
    if (candidate.isRequired) throw fault('syntax.no_colon', candidate.at);
    candidate.isPossible = false;
    return false;
  }

  get #isInBrackets() {
    return this.#candidates.length > 1;
  }

  /** @param {Kind} kind @param {number} [from] @param {string} [text] */
  #put(kind, from = this.cursor.at, text = '') {
    this.#waiting.push({ kind, from, to: this.cursor.at, text, isPlain: false });
  }

  #scan() {
    this.#toNextToken();
    this.#endBlocks(this.cursor.column);
    const [first, second] = [this.cursor.peek(), this.cursor.peek(1)];
    if (first === '') return this.#end();
    if (this.cursor.column === 0 && first === '%') throw fault('directive', this.cursor.at);
    const mark = this.cursor.documentMark;
    if (mark) return this.#document(mark);
    if (first === '[' || first === '{') return this.#openBracket(first);
    if (first === ']' || first === '}') return this.#closeBracket(first);
    if (first === ',') return this.#comma();
    if (first === '-' && isBlankOrEnd(second)) return this.#dash();
    if (first === '?' && (this.#isInBrackets || isBlankOrEnd(second))) return this.#questionMark();
    if (first === ':' && (this.#isInBrackets || isBlankOrEnd(second))) return this.#colon();
    if (first === '*' || first === '&') return this.#anchor(first);
    if (first === '!') return this.#tag();
    if ((first === '|' || first === '>') && !this.#isInBrackets) return this.#blockText();
    if (first === "'" || first === '"') return this.#quotedText();
    const isIndicator = '-?:,[]{}#&*!|>\'"%@`'.includes(first) || isBlankOrEnd(first);
    if (!isIndicator || (first === '-' && !isBlank(second)) || (!this.#isInBrackets && '?:'.includes(first)))
      return this.#plainText();
    throw fault(first === '\t' ? 'syntax.tab' : 'syntax.character', this.cursor.at);
  }

  /** Blanks, comments and empty lines. */
  #toNextToken() {
    for (;;) {
      while (this.cursor.peek() === ' ' || ((this.#isInBrackets || !this.#isKeyAllowed) && this.cursor.peek() === '\t'))
        this.cursor.skip();
      if (this.cursor.peek() === '#') this.cursor.skipLine();
      if (!isBreak(this.cursor.peek())) return;
      this.cursor.break();
      if (!this.#isInBrackets) this.#isKeyAllowed = true;
    }
  }

  /** Ends the blocks that stand further in than a column. @param {number} column */
  #endBlocks(column) {
    if (this.#isInBrackets) return;
    while (this.#indent > column) {
      this.#put('block end');
      this.#indent = /** @type {number} */ (this.#indents.pop());
    }
  }

  /**
   * Begins a block where a column stands further in than what is open.
   * @param {'block list' | 'block map'} kind @param {number} column @param {number} from @param {number} [number] of the
   *   token that it goes before
   */
  #beginBlock(kind, column, from, number = this.#taken + this.#waiting.length) {
    if (this.#isInBrackets || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#waiting.splice(number - this.#taken, 0, { kind, from, to: from, text: '', isPlain: false });
  }

  /** What comes next could be a key. */
  #keepKey() {
    if (!this.#isKeyAllowed) return;
    const isRequired = !this.#isInBrackets && this.#indent === this.cursor.column;
    this.#forgetKey();
    this.#candidates[this.#candidates.length - 1] = {
      isPossible: true,
      isRequired,
      number: this.#taken + this.#waiting.length,
      at: this.cursor.at,
      index: this.cursor.index,
      line: this.cursor.line,
      column: this.cursor.column,
    };
  }

  /** What could have been a key is none. */
  #forgetKey() {
    const candidate = this.#candidates[this.#candidates.length - 1];
    if (candidate.isPossible && candidate.isRequired) throw fault('syntax.no_colon', candidate.at);
    candidate.isPossible = false;
  }

  #end() {
    if (this.cursor.column > 0) {
      this.cursor.column = 0;
      this.cursor.line += 1;
    }
    this.#endBlocks(-1);
    this.#forgetKey();
    this.#isKeyAllowed = false;
    this.#isOver = true;
    this.#put('stream end');
  }

  /** @param {'document start' | 'document end'} kind */
  #document(kind) {
    this.#endBlocks(-1);
    this.#forgetKey();
    this.#isKeyAllowed = false;
    const from = this.cursor.at;
    this.cursor.skip(3);
    this.#put(kind, from);
  }

  /** @param {'[' | '{'} bracket */
  #openBracket(bracket) {
    this.#keepKey();
    this.#candidates.push(noKey());
    this.#isKeyAllowed = true;
    this.#mark(bracket);
  }

  /** @param {']' | '}'} bracket */
  #closeBracket(bracket) {
    this.#forgetKey();
    if (this.#isInBrackets) this.#candidates.pop();
    this.#isKeyAllowed = false;
    this.#mark(bracket);
  }

  #comma() {
    this.#forgetKey();
    this.#isKeyAllowed = true;
    this.#mark(',');
  }

  #dash() {
    if (!this.#isInBrackets && !this.#isKeyAllowed) throw fault('syntax.indent', this.cursor.at);
    this.#beginBlock('block list', this.cursor.column, this.cursor.at);
    this.#forgetKey();
    this.#isKeyAllowed = true;
    this.#mark('-');
  }

  #questionMark() {
    if (!this.#isInBrackets && !this.#isKeyAllowed) throw fault('syntax', this.cursor.at);
    this.#beginBlock('block map', this.cursor.column, this.cursor.at);
    this.#forgetKey();
    this.#isKeyAllowed = !this.#isInBrackets;
    this.#mark('key');
  }

  #colon() {
    const candidate = this.#candidates[this.#candidates.length - 1];
    if (this.#isValid(candidate)) {
      const { number, at, column } = candidate;
      this.#waiting.splice(number - this.#taken, 0, { kind: 'key', from: at, to: at, text: '', isPlain: false });
      this.#beginBlock('block map', column, at, number);
      candidate.isPossible = false;
      this.#isKeyAllowed = false;
    } else {
      if (!this.#isInBrackets && !this.#isKeyAllowed) throw fault('syntax.colon', this.cursor.at);
      this.#beginBlock('block map', this.cursor.column, this.cursor.at);
      this.#isKeyAllowed = !this.#isInBrackets;
    }
    this.#mark('value');
  }

  /** A token of one character. @param {Kind} kind */
  #mark(kind) {
    const from = this.cursor.at;
    this.cursor.skip();
    this.#put(kind, from);
  }

  /** @param {'*' | '&'} mark */
  #anchor(mark) {
    this.#keepKey();
    this.#isKeyAllowed = false;
    const from = this.cursor.at;
    this.cursor.skip();
    while (/[\w-]/.test(this.cursor.peek())) this.cursor.skip();
    const name = this.text.slice(from + 1, this.cursor.at);
    if (name === '' || !(isBlankOrEnd(this.cursor.peek()) || '?:,]}%@`'.includes(this.cursor.peek())))
      throw fault('syntax', from);
    this.#put(mark === '*' ? 'alias' : 'anchor', from, name);
  }

  #tag() {
    this.#keepKey();
    this.#isKeyAllowed = false;
    const from = this.cursor.at;
    while (!isBlankOrEnd(this.cursor.peek()) && !(this.#isInBrackets && this.cursor.peek() === ',')) this.cursor.skip();
    this.#put('tag', from, this.cursor.since(from));
  }

  #blockText() {
    this.#forgetKey();
    this.#isKeyAllowed = true;
    this.#putText(blockText(this.cursor, this.#indent));
  }

  #quotedText() {
    this.#keepKey();
    this.#isKeyAllowed = false;
    this.#putText(quotedText(this.cursor));
  }

  #plainText() {
    this.#keepKey();
    const found = plainText(this.cursor, this.#indent + 1, this.#isInBrackets);
    this.#isKeyAllowed = found.isOverLines;
    this.#putText(found);
  }

  /** @param {import('./yaml-texts.js').Text} found */
  #putText({ text, from, to, isPlain }) {
    this.#waiting.push({ kind: 'text', from, to, text, isPlain });
  }
}

/** @returns {Candidate} */
function noKey() {
  return { isPossible: false, isRequired: false, number: 0, at: 0, index: 0, line: 0, column: 0 };
}
