// @ts-check
/**
 * The fields of the page: one way in which each shows what is, keeps what is being typed, and hands it on.
 *
 * A field shows the draft after every draw, whatever was in it; the one that is being typed into keeps its text and its caret
 * until that is taken, given up, or the field is about something else. `defaultValue` is always what the draft says.
 *
 *     html`<input ${shows(text, `cell ${req_id} ${step}`)}>`
 *
 * In: input events, draws. Out: `change` events, the browser's own and those of `handOn`, at the element around the fields.
 */
import { Directive, PartType, directive } from '../../vendor/lit-html/directive.js';
import { noChange } from '../../vendor/lit-html/lit-html.js';
import { whenReleased } from './press.js';

/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

/** What each field is about. @type {WeakMap<Field, string>} */
const subjects = new WeakMap();
/** The field that is being typed into. @type {Field | null} */
let typed = null;

document.addEventListener('input', ({ target }) => isField(target) && subjects.has(target) && (typed = target), {
  capture: true,
});
// Whoever leaves a field has had its `change` before; what is left over then is no draft's.
document.addEventListener('focusout', ({ target }) => target === typed && (typed = null));
// Whoever leaves the page in the middle of a word has typed it.
addEventListener('pagehide', handOn);

/** @param {unknown} target @returns {target is Field} with text in it */
function isField(target) {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'file'].includes(target.type))
  );
}

/** Whether somebody typed in a field, be it what the draft says already. @param {EventTarget | null} field */
export function isTyped(field) {
  return field !== null && field === typed;
}

/**
 * What is in a field goes its way, if it is not what the draft says; the field shows what the draft says then.
 * @param {Field} field
 * @param {(text: string) => void} use
 */
export function take(field, use) {
  const text = field.value;
  if (typed === field) typed = null;
  if (text !== field.defaultValue) use(text);
  whenReleased(() => typed !== field && put(field, field.defaultValue));
}

/** The draft's text again, in place of what was typed. @param {Field} field */
export function restore(field) {
  take(field, () => {});
}

/** What is being typed is handed on, as if the field had been left. */
export function handOn() {
  typed?.dispatchEvent(new Event('change', { bubbles: true }));
}

/** What it was typed for is gone. */
export function dropTyped() {
  typed = null;
}

/** Types for the reader: over what is selected, as a key would. @param {Field} field @param {string} text */
export function typeIn(field, text) {
  field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Another text in a field that may have the keyboard: what is selected there stays so. @param {Field} field @param {string} text */
function put(field, text) {
  if (field.value === text) return;
  const { selectionStart: start, selectionEnd: end, value } = field;
  const isWhole = start === 0 && end === value.length;
  field.value = text;
  if (field !== document.activeElement) return;
  if (isWhole) field.select();
  else field.setSelectionRange(Math.min(start ?? 0, text.length), Math.min(end ?? 0, text.length));
}

class Shows extends Directive {
  /** @param {import('../../vendor/lit-html/directive.js').ElementPart} part */
  constructor(part) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('`shows` stands in the tag of an element');
  }

  /** @override @param {string | boolean} _value @param {string} [_of] @returns {unknown} */
  render(_value, _of) {
    return noChange;
  }

  /** @override @param {import('../../vendor/lit-html/directive.js').ElementPart} part @param {[any, string?]} values */
  update({ element }, [value, of = '']) {
    if (element instanceof HTMLOptionElement) element.selected = value;
    else if (!isField(element)) /** @type {HTMLInputElement} */ (element).checked = value;
    else {
      if (typed === element && subjects.get(element) !== of) typed = null;
      subjects.set(element, of);
      if (element.defaultValue !== value) element.defaultValue = value;
      if (typed !== element) put(element, value);
    }
    return noChange;
  }
}

/**
 * In the tag of a field: the text that it shows and what it is about (two texts of one subject are versions of one thing); in
 * that of a checkbox or an option, whether it is chosen.
 */
export const shows = directive(Shows);
