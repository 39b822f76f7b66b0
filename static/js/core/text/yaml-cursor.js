// @ts-check
/** A place in a text that goes on character by character and knows its line and column, as YAML counts them. */

const [BLANKS, BREAKS] = [' \t', '\n\r\x85\u2028\u2029'].map((characters) => new Set(characters));
export const isBlank = (/** @type {string} */ character) => BLANKS.has(character);
export const isBreak = (/** @type {string} */ character) => BREAKS.has(character);
export const isBreakOrEnd = (/** @type {string} */ character) => character === '' || BREAKS.has(character);
export const isBlankOrEnd = (/** @type {string} */ character) => BLANKS.has(character) || isBreakOrEnd(character);

export class Cursor {
  /** In code units. */
  at = 0;
  line = 0;
  /** Characters since the line began, and since the text did: two code units may be one. */
  column = 0;
  index = 0;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    if (text.startsWith('\ufeff')) this.at = 1;
  }

  /** The code unit here or further on, '' behind the end. */
  peek(ahead = 0) {
    return this.text.charAt(this.at + ahead);
  }

  skip(count = 1) {
    for (let left = count; left > 0; left -= 1) {
      const unit = this.text.charCodeAt(this.at);
      this.at += unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
      this.index += 1;
      this.column += 1;
    }
  }

  /** Goes to the end of the line. */
  skipLine() {
    while (!isBreakOrEnd(this.peek())) this.skip();
  }

  /** Goes on to the next line; what the break stands for in a text. */
  break() {
    const found = this.peek();
    if (found === '\r' && this.peek(1) === '\n') this.at += 1;
    this.at += 1;
    this.index += 1;
    this.line += 1;
    this.column = 0;
    return found === '\u2028' || found === '\u2029' ? found : '\n';
  }

  /** What was gone over since. @param {number} from */
  since(from) {
    return this.text.slice(from, this.at);
  }

  /** Whether a line is here that begins or ends a document. @returns {'document start' | 'document end' | null} */
  get documentMark() {
    if (this.column > 0 || !isBlankOrEnd(this.peek(3))) return null;
    const mark = this.text.slice(this.at, this.at + 3);
    return mark === '---' ? 'document start' : mark === '...' ? 'document end' : null;
  }
}
