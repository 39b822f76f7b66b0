// @ts-check
/**
 * CodeMirror, fetched when somebody first looks at the text, in the page's colours. It lives in a shadow root: there its
 * style sheets are adopted, which the page's policy allows, and no inline style is needed.
 */

/** @typedef {import('../../core/text/scenario-text.js').Notation} Notation */
/**
 * @typedef {{from: number, to: number, message: string, repair?: {label: string, apply: () => void}}} Mark  something
 *   wrong in the text
 */
/** @typedef {typeof import('../../../vendor/codemirror/codemirror.js')} Library */

/** Fetched once, and tried again where it could not be. @type {Library | null} */
let loaded = null;

/** @returns {Promise<Library>} */
export async function editorLibrary() {
  loaded ??= await import('../../../vendor/codemirror/codemirror.js');
  return loaded;
}

export class TextEditor {
  /**
   * @param {Library} cm
   * @param {HTMLElement} host
   * @param {{text: string, notation: Notation, label: string, phrases: Record<string, string>, typed: () =>
   *   void}} what
   */
  constructor(cm, host, { text, notation, label, phrases, typed }) {
    this.cm = cm;
    this.outside = cm.Annotation.define();
    this.language = new cm.Compartment();
    this.name = new cm.Compartment();
    this.notation = notation;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const changed = cm.EditorView.updateListener.of((/** @type {any} */ update) => {
      const isOurs = update.transactions.every((/** @type {any} */ one) => !one.docChanged || one.annotation(this.outside));
      if (update.docChanged && !isOurs) typed();
    });
    this.extensions = [
      cm.lineNumbers(),
      cm.highlightSpecialChars(),
      cm.history(),
      cm.drawSelection(),
      cm.dropCursor(),
      cm.indentOnInput(),
      cm.bracketMatching(),
      cm.closeBrackets(),
      cm.highlightActiveLine(),
      cm.highlightActiveLineGutter(),
      cm.lintGutter(),
      cm.search({ top: true }),
      cm.EditorView.lineWrapping,
      cm.indentUnit.of('  '),
      // Tab is not bound: it leaves the editor, as it leaves every field.
      cm.keymap.of([
        ...cm.closeBracketsKeymap,
        ...cm.defaultKeymap,
        ...cm.searchKeymap,
        ...cm.historyKeymap,
        { key: 'F8', run: cm.nextDiagnostic },
        { key: 'Shift-F8', run: cm.previousDiagnostic },
      ]),
      cm.EditorState.phrases.of(phrases),
      cm.syntaxHighlighting(highlighting(cm)),
      theme(cm),
      typingOver(cm),
      changed,
    ];
    this.label = label;
    this.view = new cm.EditorView({ state: this.#state(text), parent: root, root });
  }

  /** @param {string} doc */
  #state(doc) {
    const { cm, notation, label } = this;
    return cm.EditorState.create({
      doc,
      extensions: [this.extensions, this.language.of(languageOf(cm, notation)), this.name.of(named(cm, label))],
    });
  }

  /** From here on it is a text of its own: undoing stops here. */
  forget() {
    this.view.setState(this.#state(this.text));
  }

  /** @returns {string} */
  get text() {
    return this.view.state.doc.toString();
  }

  /**
   * Another text from outside: only what differs is replaced, so the caret stays where it was. It can be undone here.
   * @param {string} text
   */
  set text(text) {
    const old = this.text;
    if (text === old) return;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
    let end = 0;
    while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end])
      end += 1;
    this.view.dispatch({
      changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
      annotations: [this.outside.of(true), this.cm.isolateHistory.of('full')],
    });
  }

  /** @param {Notation} notation @param {string} label */
  write(notation, label) {
    this.notation = notation;
    this.label = label;
    this.view.dispatch({
      effects: [this.language.reconfigure(languageOf(this.cm, notation)), this.name.reconfigure(named(this.cm, label))],
    });
  }

  /** @param {Mark[]} marks */
  set marks(marks) {
    const end = this.view.state.doc.length;
    const diagnostics = marks.map(({ from, to, message, repair }) => ({
      from: Math.min(from, end),
      to: Math.min(Math.max(from, to), end),
      severity: 'error',
      message,
      actions: repair ? [{ name: repair.label, apply: repair.apply }] : [],
    }));
    this.view.dispatch(
      this.cm.setDiagnostics(
        this.view.state,
        diagnostics.sort((a, b) => a.from - b.from),
      ),
    );
  }

  /** @param {number} at */
  go(at) {
    const place = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: place }, effects: this.cm.EditorView.scrollIntoView(place, { y: 'center' }) });
    this.view.focus();
  }

  focus() {
    this.view.focus();
  }

  get hasFocus() {
    return this.view.hasFocus;
  }
}

/**
 * Typing over several lines, or several at once (dictated): left to itself, Chromium keeps the look of what goes in inline
 * styles, which the page's policy refuses loudly.
 * @param {Library} cm
 */
function typingOver({ EditorView }) {
  return EditorView.domEventHandlers({
    beforeinput: (/** @type {InputEvent} */ event, /** @type {any} */ view) => {
      const { from, to } = view.state.selection.main;
      const isOver = view.state.doc.lineAt(from).number !== view.state.doc.lineAt(to).number;
      if (event.inputType !== 'insertText' || !event.data || view.composing || !(isOver || event.data.includes('\n')))
        return false;
      view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
      return true;
    },
  });
}

/** @param {Library} cm @param {Notation} notation */
function languageOf(cm, notation) {
  return notation === 'yaml' ? cm.yaml() : cm.json();
}

/** @param {Library} cm @param {string} label */
function named(cm, label) {
  return cm.EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', translate: 'no' });
}

/** Quiet: what is filled in stands out, what the notation needs steps back. @param {Library} cm */
function highlighting({ HighlightStyle, tags }) {
  return HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--soft)' },
    { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--sp-slot)' },
    { tag: [tags.string, tags.special(tags.string), tags.content], color: 'var(--ink)' },
    { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--faint)' },
    { tag: [tags.comment, tags.lineComment], color: 'var(--faint)', fontStyle: 'italic' },
    { tag: tags.invalid, color: 'var(--bad)' },
  ]);
}

/** @param {Library} cm */
function theme({ EditorView }) {
  const field = {
    border: '1px solid var(--edge)',
    borderRadius: 'var(--radius)',
    background: 'var(--paper)',
    color: 'var(--ink)',
    font: 'inherit',
    padding: '2px 6px',
  };
  return EditorView.theme({
    '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'transparent', fontSize: '13px' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto', scrollbarWidth: 'thin' },
    '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
    '.cm-line': { padding: '0 12px 0 6px' },
    '&.cm-focused > .cm-scroller > .cm-cursorLayer .cm-cursor, .cm-dropCursor': {
      borderLeftColor: 'var(--ink)',
      borderLeftWidth: '2px',
    },
    '& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
      { background: 'var(--near)' },
    '.cm-activeLine': { backgroundColor: 'transparent' },
    '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunk) 60%, transparent)' },
    '.cm-gutters': {
      backgroundColor: 'transparent',
      color: 'var(--faint)',
      border: '0',
      fontVariantNumeric: 'tabular-nums',
    },
    '.cm-activeLineGutter': { backgroundColor: 'transparent' },
    '&.cm-focused .cm-activeLineGutter': { color: 'var(--ink)' },
    '.cm-gutter-lint': { width: '16px' },
    '.cm-gutter-lint .cm-gutterElement': { padding: '0 2px' },
    '.cm-lint-marker': { width: '12px', height: '12px', marginTop: '4px' },
    '.cm-lint-marker-error': { content: 'none', borderRadius: '50%', backgroundColor: 'var(--bad)' },
    '.cm-lintRange-error': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--bad)',
      textUnderlineOffset: '3px',
      textDecorationSkipInk: 'none',
      backgroundColor: 'var(--bad-fill)',
    },
    '.cm-lintPoint-error:after': { borderBottomColor: 'var(--bad)' },
    '.cm-tooltip': {
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      backgroundColor: 'var(--raise)',
      color: 'var(--ink)',
      maxWidth: 'min(520px, 90vw)',
      zIndex: '30',
    },
    '.cm-diagnostic': {
      fontFamily: 'var(--sans)',
      fontSize: '13px',
      lineHeight: '1.5',
      padding: '6px 10px',
      borderLeft: '3px solid var(--bad)',
    },
    '.cm-diagnosticAction': {
      font: '600 13px/1.5 var(--sans)',
      color: 'var(--ink)',
      background: 'var(--raise)',
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      padding: '2px 8px',
      marginLeft: '8px',
      cursor: 'pointer',
    },
    '.cm-panels': { backgroundColor: 'var(--sunk)', color: 'var(--ink)', fontFamily: 'var(--sans)', zIndex: '5' },
    '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
    '.cm-textfield': field,
    '.cm-button': { ...field, backgroundImage: 'none', background: 'var(--raise)', minHeight: '26px', cursor: 'pointer' },
    '.cm-panel.cm-search': { padding: '6px 32px 6px 10px' },
    '.cm-panel.cm-search label': { fontSize: '13px' },
    '.cm-panel.cm-search [name=close]': { color: 'var(--ink)', fontSize: '18px', minWidth: '24px', minHeight: '24px' },
    '.cm-searchMatch': { backgroundColor: 'var(--walk)', outline: '1px solid var(--edge)' },
    '.cm-searchMatch-selected': { backgroundColor: 'var(--near)' },
    '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
      backgroundColor: 'transparent',
      outline: '1px solid var(--edge)',
      borderRadius: '2px',
    },
    '.cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-fill)' },
    '.cm-specialChar': { color: 'var(--bad)' },
    'button:focus-visible, input:focus-visible': { outline: '2px solid var(--focus)' },
  });
}
