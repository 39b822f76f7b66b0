// @ts-check
/**
 * The fields of the page: one way in which each shows what is, keeps what is being typed, and hands it on.
 *
 * A field shows the draft after every draw, whatever was in it; the one that is being typed into keeps its text and its caret
 * until that is taken, given up, or the field is about something else. `defaultValue` is always what the draft says.
 *
 * What is being typed is taken back here, a run of keys at a time, in every text field of the page: the browser's own list
 * of what was typed is one for all fields, and writes into others than the one that is meant.
 *
 *     html`<input ${shows(text, `cell ${req_id} ${step}`)}>`
 *
 * In: input events, draws. Out: `change` events, the browser's own and those of `handOn`, at the element around the fields.
 */
import { Directive, PartType, directive } from '../../vendor/lit-html/directive.js';
import { noChange } from '../../vendor/lit-html/lit-html.js';
import { whenReleased } from './press.js';
import { TypedRuns } from './typed-runs.js';

/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

/** What each field is about. @type {WeakMap<Field, string>} */
const subjects = new WeakMap();
/** The field that is being typed into. @type {Field | null} */
let typed = null;

/** What was typed in the field that has the keyboard, since it had it or since that was taken. @type {Session | null} */
let session = null;
/** The field that the next key changes, as it is before that. @type {{field: Field, state: State} | null} */
let before = null;

/** @typedef {import('./typed-runs.js').State} State */
/** @typedef {{field: Field, state: State | null, runs: TypedRuns}} Session  state: after the last key, null where unknown */

document.addEventListener(
  'beforeinput',
  ({ target }) => {
    if (isField(target)) before = { field: target, state: stateOf(target) };
  },
  { capture: true },
);
document.addEventListener('input', (event) => isField(event.target) && changed(event.target, /** @type {any} */ (event)), {
  capture: true,
});
// Whoever leaves a field has had its `change` before, unless the last key in it was the page's: then it is here. What is left
// over after that is no draft's.
document.addEventListener(
  'blur',
  ({ target }) => {
    if (target === typed) handOn();
    if (target === typed) typed = null;
    if (target === session?.field) session = null;
  },
  { capture: true },
);
// Whoever leaves the page in the middle of a word has typed it.
addEventListener('pagehide', handOn);

/** @param {unknown} target @returns {target is Field} with text in it */
function isField(target) {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'file'].includes(target.type))
  );
}

/** @param {Field} field @returns {State} */
function stateOf({ value, selectionStart, selectionEnd }) {
  return { text: value, start: selectionStart ?? value.length, end: selectionEnd ?? value.length };
}

/** @param {Field} field @param {{inputType?: string}} by  what changed its text */
function changed(field, { inputType = '' }) {
  const isOurs = subjects.has(field);
  const state = stateOf(field);
  const isTravel = inputType.startsWith('history');
  if (session?.field !== field) {
    const { defaultValue: text } = field;
    session = { field, state: isOurs ? { text, start: 0, end: text.length } : null, runs: new TypedRuns() };
  }
  // What comes without a key may come without a `beforeinput`.
  const prior = before?.field === field ? before.state : session.state;
  if (!isTravel && prior) session.runs.add(prior, state, inputType);
  session.state = state;
  before = null;
  if (isOurs) typed = isTravel && state.text === field.defaultValue ? null : field;
}

/**
 * Takes back what was typed last in a field, or types it again.
 * @param {EventTarget | null} field @param {1 | -1} by
 * @returns {boolean} false: there is nothing to take back in it, so undo and redo are the draft's
 */
export function travelTyped(field, by) {
  if (!isField(field)) return false;
  const isDraft = subjects.has(field) && field.value === field.defaultValue;
  const state = session?.field === field && !(isDraft && by < 0) ? session.runs.travel(by, stateOf(field)) : null;
  if (state) {
    field.value = state.text;
    if (field.selectionStart !== null) field.setSelectionRange(state.start, state.end);
    const inputType = by < 0 ? 'historyUndo' : 'historyRedo';
    field.dispatchEvent(new InputEvent('input', { inputType, bubbles: true }));
    return true;
  }
  if (field !== typed) return false;
  if (!isDraft && by < 0) restore(field); // the draft is another than when the typing began
  if (isDraft) typed = session = null;
  return !isDraft;
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
  if (session?.field === field) session = null;
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
  typed = session = null;
}

/** Types for the reader: over what is selected, as a key would. @param {Field} field @param {string} text */
export function typeIn(field, text) {
  before = { field, state: stateOf(field) };
  field.setRangeText(text, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end');
  field.dispatchEvent(new InputEvent('input', { inputType: 'insertText', data: text, bubbles: true }));
}

/** Another text in a field that may have the keyboard: what is selected there stays so. @param {Field} field @param {string} text */
function put(field, text) {
  if (field.value === text) return;
  if (session?.field === field) session = null;
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
      if (subjects.get(element) !== of) {
        if (typed === element) typed = null;
        if (session?.field === element) session = null;
      }
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
