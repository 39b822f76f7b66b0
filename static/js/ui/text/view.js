// @ts-check
/**
 * The scenario as text: the editor, what is wrong in it, and ways in and out (files, the clipboard). What is typed, it
 * says (`text-typed`); what the text means is not its business.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { editorLibrary, TextEditor } from './editor.js';
import { say } from '../view.js';

/** @typedef {import('../../core/i18n.js').Translate} Translate */
/** @typedef {import('../../core/text/scenario-text.js').Notation} Notation */
/**
 * @typedef {{from: number, to: number, line: number, message: string, code: string, repair: string}} Trouble  repair:
 *   label of its button, '' for none
 */
/**
 * @typedef {object} State
 * @property {Notation} notation
 * @property {'in-step' | 'waiting' | 'unread' | 'not-run' | 'unreachable'} status
 * @property {Trouble[]} troubles
 * @property {boolean} isApart  the schedule went on without this text
 * @property {boolean} isOdd  the text says no schedule at all
 * @property {string} message  about the last file or copy
 */

const NAMES = { yaml: 'YAML', json: 'JSON' };
const MOST = 6;
/** What CodeMirror says itself, in the words of the catalogue. */
const PHRASES = [
  'Find',
  'Replace',
  'next',
  'previous',
  'all',
  'match case',
  'regexp',
  'by word',
  'replace',
  'replace all',
  'close',
  'No diagnostics',
  'Diagnostics',
  'current match',
  'on line',
  'replaced $ matches',
  'replaced match on line $',
  'Control character',
  'Go to line',
  'go',
];

export class TextView extends HTMLElement {
  /** @type {Translate} */
  t = (key) => key;
  /** @type {TextEditor | null} */
  #editor = null;
  /** Text set before the editor was there. */
  #text = '';
  /** @type {State} */
  #state = { notation: 'yaml', status: 'in-step', troubles: [], isApart: false, isOdd: false, message: '' };
  #isFailed = false;
  #isOver = false;

  connectedCallback() {
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focusout', () => say(this, 'text-left'));
    for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'])
      this.addEventListener(type, (event) => this.#drag(/** @type {DragEvent} */ (event)), { capture: true });
  }

  get text() {
    return this.#editor?.text ?? this.#text;
  }

  /** @param {string} text */
  set text(text) {
    this.#text = text;
    if (this.#editor) this.#editor.text = text;
  }

  /** Whether the editor is there. */
  get isReady() {
    return this.#editor !== null;
  }

  get hasFocus() {
    return this.contains(document.activeElement);
  }

  /** Draws itself, and fetches the editor the first time. */
  async show() {
    this.#draw();
    if (this.#editor) return;
    this.#isFailed = false;
    try {
      const library = await editorLibrary();
      this.#mount(library);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the module could not be fetched
      this.#isFailed = true;
    }
    this.#draw();
  }

  /** @param {import('./editor.js').Library} library */
  #mount(library) {
    const host = /** @type {HTMLElement} */ (this.querySelector('[data-text-editor]'));
    if (this.#editor || !host) return;
    const phrases = Object.fromEntries(
      PHRASES.map((phrase) => [phrase, this.t(`editor.${phrase.replaceAll(/[^a-z]+/gi, '_')}`)]),
    );
    this.#editor = new TextEditor(library, host, {
      text: this.#text,
      notation: this.#state.notation,
      label: this.#label(),
      phrases,
      typed: () => say(this, 'text-typed'),
    });
    this.#mark();
  }

  #label() {
    return this.t('text.label', { notation: NAMES[this.#state.notation] });
  }

  focusEditor() {
    if (this.#editor) this.#editor.focus();
    /** @type {HTMLElement | null} */ else this.querySelector('h2')?.focus({ preventScroll: true });
  }

  /** Another scenario's text: what was done to the last one is not undone in it. */
  forget() {
    this.#editor?.forget();
  }

  /** @param {Partial<State>} change */
  update(change) {
    const { notation } = this.#state;
    this.#state = { ...this.#state, ...change };
    if (notation !== this.#state.notation) this.#editor?.write(this.#state.notation, this.#label());
    if (change.troubles) this.#mark();
    this.#draw();
  }

  #mark() {
    const marks = this.#state.troubles.map(({ from, to, message, repair }, place) => ({
      from,
      to,
      message,
      repair: repair ? { label: repair, apply: () => say(this, 'text-repair', { place }) } : undefined,
    }));
    if (this.#editor) this.#editor.marks = marks;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const isInEditor = event.target instanceof Element && event.target.closest('[data-text-editor]') !== null;
    const isFind = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
    if (isInEditor && !isFind) event.stopPropagation(); // the keys of the page are letters here
    if (event.key !== 'Escape' || isInEditor) return;
    event.stopPropagation();
    say(this, 'text-close');
  }

  /** A file may be dropped anywhere on the panel; the editor would only insert it. @param {DragEvent} event */
  #drag(event) {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    event.stopPropagation();
    const isLeaving =
      event.type === 'dragleave' && !(event.relatedTarget instanceof Node && this.contains(event.relatedTarget));
    this.#isOver = event.type === 'dragenter' || event.type === 'dragover' || (event.type === 'dragleave' && !isLeaving);
    if (event.type === 'drop' && event.dataTransfer.files[0]) say(this, 'text-file', { file: event.dataTransfer.files[0] });
    this.#draw();
  }

  /** The button goes; what it wrote can be undone in the editor. */
  #rewrite() {
    say(this, 'text-rewrite');
    this.focusEditor();
  }

  #draw() {
    if (this.hidden) return;
    const { t } = this;
    const { notation, status, troubles, isApart, isOdd, message } = this.#state;
    const choose = (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      const file = input.files?.[0];
      if (file) say(this, 'text-file', { file });
      input.value = '';
    };
    render(
      html`<section class="text-view" aria-labelledby="text-title" ?data-over=${this.#isOver} data-status=${status}>
        <header>
          <h2 id="text-title" tabindex="-1">${t('text.title')}</h2>
          <span class="notation" role="group"
            aria-label=${t('text.notation')}>${
              /** @type {Notation[]} */ (['yaml', 'json']).map(
                (one) => html`<button
            type="button" class="btn" data-notation=${one} aria-pressed=${one === notation}
            @click=${() => say(this, 'text-notation', { notation: one })}>${NAMES[one]}</button>`,
              )
            }</span>
          <span class="tools">
            <button type="button" class="btn" data-text-copy
              @click=${() => say(this, 'text-copy')}>${t('text.copy')}</button>
            <button type="button" class="btn" data-text-download
              @click=${() => say(this, 'text-download')}>${t('text.download')}</button>
            <button type="button" class="btn" data-text-open
              @click=${() => /** @type {HTMLElement} */ (this.querySelector('input[type=file]')).click()}>${t('text.open_file')}</button>
            <input type="file" hidden accept=".yaml,.yml,.json,.txt,application/json,application/yaml,text/yaml,text/plain"
              @change=${choose}>
            <button type="button" class="btn" data-close-text aria-label=${t('text.close')} title=${t('text.close')}
              @click=${() => say(this, 'text-close')}><span aria-hidden="true">×</span></button>
          </span>
        </header>
        ${isApart ? html`<p class="notice" role="status">${t('text.apart')}</p>` : nothing}
        ${message ? html`<p class="notice" role="status" data-text-message>${message}</p>` : nothing}
        <div class="editor" data-text-editor aria-busy=${!this.#editor && !this.#isFailed}></div>
        ${
          this.#editor
            ? nothing
            : html`<p class="wait"
          role="status">${t(this.#isFailed ? 'text.no_editor' : 'text.loading')} ${
            this.#isFailed
              ? html`<button
          type="button" class="btn main" @click=${() => this.show()}>${t('text.retry')}</button>`
              : nothing
          }</p>`
        }
        ${this.#isOver ? html`<p class="over">${t('text.drop')}</p>` : nothing}
        <footer>
          <p class="status" role="status" data-text-status=${status}>${t(`text.${status.replace('-', '_')}`)}</p>
          ${
            isOdd
              ? html`<button type="button" class="btn main" data-text-rewrite
            @click=${() => this.#rewrite()}>${t('text.rewrite')}</button>`
              : nothing
          }
          <p class="hint">${t('text.hint')}</p>
          ${
            troubles.length > 0
              ? html`<ul class="troubles"
            aria-label=${t('text.problems')}>${troubles.slice(0, MOST).map((trouble, place) => this.#trouble(trouble, place))}${
              troubles.length > MOST ? html`<li>${t('inspector.more', { n: troubles.length - MOST })}</li>` : nothing
            }</ul>`
              : nothing
          }
        </footer>
      </section>`,
      this,
    );
  }

  /** @param {Trouble} trouble @param {number} place */
  #trouble({ line, message, code, repair, from }, place) {
    return html`<li data-code=${code}><button type="button" class="btn line" data-go-line=${line}
      @click=${() => this.#editor?.go(from)}>${this.t('text.at_line', { line })}</button>
      <span>${message}${
        repair
          ? html` <button type="button" class="btn main" data-text-fix
        @click=${() => say(this, 'text-repair', { place })}>${repair}</button>`
          : nothing
      }</span></li>`;
  }
}

customElements.define('pw-text', TextView);
