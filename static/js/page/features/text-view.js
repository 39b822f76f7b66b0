// @ts-check
/**
 * The text view and the workbench, in step both ways: text that says a scenario becomes the draft once typing pauses, one
 * step of undo for each pause; a draft that changed elsewhere is written out. Text that says none stays as it is, and so
 * do draft and board. Undo in the editor is the editor's own, of the text; what it brings back is a change like any other.
 */
import { Problem, Unreachable } from '../api.js';
import { canonical } from '../../core/scenario/compact.js';
import { applyPatch, toDraft } from '../../core/scenario/edits.js';
import { notationOf, readText } from '../../core/text/notation.js';
import { hasOutline } from '../../core/scenario/outline.js';
import { rewritten } from '../../core/text/rewrite.js';
import { writeScenario } from '../../core/text/scenario-text.js';
import { documentOf } from '../../core/text/text-tree.js';
import { hear } from '../../ui/view.js';
import * as drafts from '../state/drafts.js';
import { changed } from '../state/editing.js';
import { copied, download, receiveFiles, textOfFile } from './text-files.js';
import { says, troublesOf } from './text-meaning.js';
import * as texts from '../state/texts.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */
/** @typedef {import('../../core/text/scenario-text.js').Notation} Notation */
/** @typedef {import('../../core/text/text-tree.js').Reading} Reading */
/** @typedef {import('../../ui/view.js').Fault} Fault */
/** @typedef {(load: () => any, origin: import('../state/workbench.js').Origin) => Promise<void>} OpenAs */

/** Long enough not to run half a number, short enough to feel answered. */
const PAUSE = 400;

export class TextControl {
  /** The editor is there. */
  #isReady = false;
  /** @type {Notation} */
  #notation = texts.usualNotation();
  /** What the text says, as far as it was looked at. @type {Reading} */
  #reading = { root: null, faults: [] };
  /** The draft that the text was last in step with. @type {Scenario | null} */
  #draft = null;
  /** What the server says of a text that is no draft. @type {Fault[]} */
  #refusal = [];
  /** Typing goes on. @type {ReturnType<typeof setTimeout> | 0} */
  #timer = 0;
  /** Another one means that something else was opened. @type {unknown} */
  #undo = null;
  /** What the text is kept under. */
  #name = '';
  /** The text came from a file: once it can be read it is a scenario of its own. */
  #asNew = false;
  /** What was typed before the file was opened. @type {texts.Typed | null} */
  #before = null;
  /** What is being opened is this text. @type {Scenario | null} */
  #expected = null;
  #isApart = false;
  #isUnreachable = false;

  /**
   * @param {import('../state/workbench.js').Workbench} bench
   * @param {import('../../ui/text/view.js').TextView} element
   * @param {OpenAs} openAs
   */
  constructor(bench, element, openAs) {
    this.bench = bench;
    this.element = element;
    this.openAs = openAs;
    element.t = bench.t;
    /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').TextMessages>} */
    const handlers = {
      'text-toggle': () => (this.isOpen ? this.close() : this.open()),
      'text-close': () => this.close(),
      'text-typed': () => this.#typed(),
      'text-left': () => this.#timer && this.#apply(),
      'text-notation': ({ notation }) => this.#write(notation),
      'text-repair': ({ place }) => this.#repair(place),
      'text-rewrite': () => this.#rewrite({ anew: true }),
      'text-file': ({ file }) => this.#openFile(file),
      'text-copy': () => this.#copy(),
      'text-download': () => download(this.element.text, this.#notation, bench.draft.title ?? ''),
    };
    hear(document, handlers);
    receiveFiles(
      () => bench.mode === 'board',
      async (file) => {
        if (!this.isOpen) await this.open();
        if (this.#isReady) await this.#openFile(file);
      },
    );
    addEventListener('pagehide', () => this.isOpen && this.#keep());
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** There is text that is not the draft's: it cannot be read, or is no scenario. */
  get isUnread() {
    if (this.isOpen && this.#draft) return this.#isOdd;
    return texts.typedText(this.#key)?.isUnread ?? false;
  }

  get #isOdd() {
    return this.#reading.faults.length > 0 || this.#refusal.length > 0 || this.#isUnreachable;
  }

  get #key() {
    return `${this.bench.origin.kind}:${this.bench.origin.name}`;
  }

  /** @param {{quiet?: boolean}} [how] quiet: nobody asked for it, so the keyboard stays where it is */
  async open({ quiet = false } = {}) {
    this.element.hidden = false;
    this.bench.redraw();
    await this.element.show();
    this.#isReady = this.element.isReady;
    if (!this.isOpen || !this.#isReady) return;
    this.#begin();
    if (quiet) return;
    this.element.focusEditor();
    this.element.scrollIntoView({ block: 'nearest' });
  }

  close() {
    if (!this.isOpen) return;
    if (this.#timer) this.#apply();
    const hadFocus = this.element.hasFocus || document.activeElement === document.body;
    this.element.hidden = true;
    this.bench.redraw();
    if (hadFocus)
      /** @type {import('../../ui/schedule/editor-tools.js').EditorTools | null} */ (
        document.querySelector('pw-editor-tools')
      )?.focusOn('text');
  }

  /** The page was drawn. @param {import('../../ui/view.js').View} view */
  draw(view) {
    const { bench } = this;
    const isOther = bench.opened && bench.undo !== this.#undo;
    if (!this.isOpen || !this.#draft || !this.#isReady) {
      if (!isOther) return;
      this.#undo = bench.undo;
      // What could not be read when the page was left is there again.
      if (!this.isOpen && texts.typedText(this.#key)?.isUnread) this.open({ quiet: true });
      return;
    }
    if (isOther && this.#expected && bench.draft === this.#expected) {
      this.#settle();
      this.element.forget();
    } else if (isOther) this.#begin();
    else if (bench.draft !== this.#draft) this.#follow();
    this.#mark(view);
  }

  /** The text of what is open: as it was typed, if that is still about it, else written out. */
  #begin() {
    const { bench } = this;
    const { draft } = bench;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#settle();
    this.#refusal = [];
    this.#isApart = this.#isUnreachable = false;
    this.#before = null;
    const typed = texts.typedText(this.#name);
    const isNewer = typed !== null && typed.of === texts.markOf(draft);
    const reading = typed && readText(typed.text, typed.notation);
    const isSame = reading?.root != null && says(bench.format, reading, draft);
    const isDraft = reading?.root != null && hasOutline(documentOf(reading.root));
    if (typed && reading && (isSame || isNewer || !isDraft)) {
      this.#notation = typed.notation;
      this.#asNew = typed.asNew ?? false;
      this.#reading = reading;
      this.#isApart = !isSame && !isNewer;
      this.element.text = typed.text;
      if (!isSame && reading.root) this.#apply();
    } else {
      this.#asNew = false;
      this.#put(null);
    }
    this.element.update({ notation: this.#notation, message: '' });
    this.element.forget();
    this.bench.redraw();
  }

  /** Text and draft belong together from here on. */
  #settle() {
    this.#undo = this.bench.undo;
    this.#name = this.#key;
    this.#draft = this.bench.draft;
    this.#expected = null;
  }

  /** The draft was changed elsewhere. */
  #follow() {
    if (this.#timer) return; // what is being typed comes after it
    if (!this.#isOdd) this.#rewrite();
    else if (!this.#isApart || this.#name !== this.#key) {
      this.#isApart = true;
      this.#keep();
    }
  }

  /** @param {{anew?: boolean}} [how] anew: as if nobody had written it by hand */
  #rewrite({ anew = false } = {}) {
    this.#draft = this.bench.draft;
    this.#refusal = [];
    this.#isApart = this.#isUnreachable = this.#asNew = false;
    if (anew || !this.#update()) this.#put(null);
    this.#keep();
    this.bench.redraw();
  }

  /** Writes what has changed into the text as it is; whether that says the draft. */
  #update() {
    const { root } = this.#reading;
    const text = root && rewritten(this.element.text, root, this.bench.draft, this.#notation);
    const reading = text && readText(text, this.#notation);
    if (!text || !reading || !says(this.bench.format, reading, this.bench.draft)) return false;
    this.element.text = text;
    this.#reading = reading;
    return true;
  }

  /** What was an example is a draft once it was changed: its text goes with it. */
  #rename() {
    if (this.#name === this.#key || this.bench.undo !== this.#undo) return;
    texts.keepText(this.#name, null);
    this.#name = this.#key;
  }

  /** @param {string | null} text null: the draft written out */
  #put(text) {
    this.element.text = text ?? writeScenario(this.bench.format, this.bench.draft, this.#notation);
    this.#reading = readText(this.element.text, this.#notation);
  }

  #typed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#apply(), PAUSE);
    this.element.update({ status: 'waiting', message: '' });
  }

  /** The text as it is now goes to the board, if it can. */
  async #apply() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const { text } = this.element;
    this.#reading = readText(text, this.#notation);
    this.#refusal = [];
    this.#isUnreachable = false;
    if (!this.#reading.root) this.#tryOther(text);
    const { root } = this.#reading;
    if (root) {
      const document = documentOf(root);
      if (hasOutline(document)) this.#take(toDraft(document));
      else await this.#ask(document, text);
    }
    this.#keep();
    this.bench.redraw();
  }

  /** What is pasted may be in the other notation. @param {string} text */
  #tryOther(text) {
    const other = this.#notation === 'yaml' ? 'json' : 'yaml';
    const reading = readText(text, other);
    // Nearly every text is YAML for a text: only what has fields is meant so.
    if (reading.root?.kind !== 'map') return;
    this.#reading = reading;
    this.#notation = other;
    this.element.update({ notation: other });
  }

  /** @param {Scenario} next */
  #take(next) {
    const { bench } = this;
    this.#isApart = false;
    if (this.#asNew) {
      this.#asNew = false;
      this.#expected = next;
      texts.keepText(this.#name, this.#before);
      this.openAs(() => next, { kind: 'draft', name: drafts.newId() });
    } else if (canonical(bench.format, next) !== canonical(bench.format, bench.draft)) bench.edit(() => next);
    this.#draft = bench.draft;
  }

  /** The text is no draft: why, the server says. @param {any} document @param {string} text */
  async #ask(document, text) {
    try {
      await this.bench.api.trace(document, { last: -1 });
    } catch (error) {
      if (!(error instanceof Problem || error instanceof Unreachable)) throw error;
      if (text !== this.element.text) return; // it was typed on
      if (error instanceof Problem) this.#refusal = error.reasons;
      else this.#isUnreachable = true;
    }
  }

  /** What stands in the editor and not in the draft. */
  #keep() {
    if (!this.#draft || !this.#isReady || this.#expected) return;
    this.#rename();
    const { text } = this.element;
    const isUnread = this.#timer !== 0 || this.#isOdd;
    const isPlain = !isUnread && text === writeScenario(this.bench.format, this.bench.draft, this.#notation);
    const kept = texts.keepText(
      this.#name,
      isPlain ? null : { text, notation: this.#notation, of: texts.markOf(this.#draft), isUnread, asNew: this.#asNew },
    );
    if (kept !== 'kept') this.bench.notKept(kept);
  }

  /** @param {import('../../ui/view.js').View} view */
  #mark(view) {
    document.querySelector('[data-workbench]')?.toggleAttribute('data-text-unread', this.#isOdd);
    if (this.#timer) return;
    const isNotRun = this.#refusal.length > 0 || this.bench.faults.length > 0;
    const isBehind = view.isStale || !view.hasBoard; // there may be none yet
    const isUnreachable = this.#isUnreachable || (isBehind && this.bench.notices.some(({ kind }) => kind === 'offline'));
    const status = isUnreachable
      ? 'unreachable'
      : this.#reading.faults.length > 0
        ? 'unread'
        : isNotRun
          ? 'not-run'
          : isBehind
            ? 'waiting'
            : 'in-step';
    this.element.update({
      status,
      troubles: troublesOf(view, this.element.text, this.#reading, this.#faults, this.#refusal.length > 0),
      isApart: this.#isApart,
      isOdd: this.#isOdd,
      notation: this.#notation,
    });
  }

  /** @returns {readonly Fault[]} */
  get #faults() {
    return this.#refusal.length > 0 ? this.#refusal : this.#isOdd ? [] : this.bench.faults;
  }

  /** @param {number} place */
  #repair(place) {
    const fault = this.#faults[place];
    const patch = fault?.fix;
    const { root } = this.#reading;
    if (!patch || !root || this.#timer) return; // what is being typed comes first
    if (this.#refusal.length === 0) this.bench.edit((draft) => changed(draft, { kind: 'fix', faults: [fault] }));
    else {
      this.element.text = writeScenario(this.bench.format, applyPatch(documentOf(root), patch), this.#notation);
      this.#apply();
    }
    this.element.focusEditor(); // the button goes
  }

  /** @param {Notation} notation */
  #write(notation) {
    if (notation === this.#notation) return;
    if (this.#timer) this.#apply();
    this.#notation = notation;
    texts.rememberNotation(notation);
    this.element.update({ notation });
    if (this.#isOdd) this.#apply();
    else this.#rewrite({ anew: true });
  }

  /** @param {File} file */
  async #openFile(file) {
    const found = await textOfFile(file, this.bench.t);
    if (found.text === null) return this.element.update({ message: found.message });
    if (this.#timer) await this.#apply();
    if (!this.#asNew) this.#before = texts.typedText(this.#name);
    this.#notation = notationOf(found.text, file.name);
    this.#asNew = true;
    this.element.update({ notation: this.#notation, message: '' });
    this.element.text = found.text;
    await this.#apply();
    this.element.focusEditor();
  }

  async #copy() {
    this.element.update({ message: await copied(this.element.text, this.bench.t) });
  }
}
