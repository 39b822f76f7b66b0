// @ts-check
/**
 * The find box: a number or a name, everything it means, and one key to pin the meaning that was meant.
 *
 * A button opens it as a dialog; inside is an ARIA combobox: the focus stays in the box, arrows choose in the list.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { find } from '../../core/find/find.js';
import { runs } from '../../core/i18n.js';
import { closeBeside } from '../backdrop.js';
import { requestTag } from '../tag.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/find/find.js').Hit} Hit */

const ACCENTS = /** @type {Record<string, string>} */ ({
  slot: 'sp-slot',
  block: 'sp-blk',
  logical_block: 'sp-blk',
  position: 'sp-pos',
  pool_row: 'sp-req',
  batch_row: 'sp-batch',
  flat_token: 'sp-tok',
  request: 'sp-req',
});

/** Numbers that count inside a request. */
const OF_REQUEST = new Set(['position', 'logical_block']);

export class Find extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  #text = '';
  #active = 0;
  /** @type {Hit[]} */
  #hits = [];
  #capped = false;
  /** Steps at hand besides the one on screen. @type {() => import('../../core/trace/trace.js').Step[]} */
  others = () => [];
  /** Who runs in a step. @type {(index: number) => string[]} */
  scheduled = () => [];

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    if (this.#isOpen) this.#look();
    this.#draw();
  }

  get #isOpen() {
    return this.querySelector('dialog')?.open ?? false;
  }

  /** Opens the box, the text of last time selected. */
  start() {
    const dialog = this.querySelector('dialog');
    if (!dialog || dialog.open || !this.#view) return;
    say(this, 'gather');
    this.#look();
    this.#draw();
    dialog.showModal();
    this.querySelector('input')?.select();
  }

  #look() {
    const view = /** @type {View} */ (this.#view);
    const { step, constants, schema, identities, numSteps } = view;
    const scope = {
      step,
      others: this.others(),
      constants,
      schema,
      requests: view.draft.requests,
      identities,
      scheduled: this.scheduled,
      numSteps,
    };
    const { hits, capped } = find(this.#text, scope);
    this.#hits = hits;
    this.#capped = capped;
    this.#active = Math.min(this.#active, Math.max(0, this.#options().length - 1));
  }

  /** What can be chosen: hits, or while nothing is asked examples of questions. @returns {(Hit | string)[]} */
  #options() {
    return this.#text.trim() === '' ? examplesOf(/** @type {View} */ (this.#view)) : this.#hits;
  }

  /** @param {number} place */
  #choose(place) {
    const option = this.#options()[place];
    if (option === undefined) return;
    if (typeof option === 'string') {
      this.#type(option);
      const input = this.querySelector('input');
      if (input) input.value = option;
      return;
    }
    this.querySelector('dialog')?.close();
    say(this, 'found', option);
  }

  /** @param {string} text */
  #type(text) {
    this.#text = text;
    this.#active = 0;
    this.#look();
    this.#draw();
    this.querySelector('[role=listbox]')?.scrollTo({ top: 0 });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const count = this.#options().length;
    const to = /** @type {Record<string, number>} */ ({
      ArrowDown: (this.#active + 1) % count,
      ArrowUp: (this.#active + count - 1) % count,
      PageDown: Math.min(count - 1, this.#active + 8),
      PageUp: Math.max(0, this.#active - 8),
    })[event.key];
    if (event.key === 'Enter' && !event.isComposing) this.#choose(this.#active);
    else if (to !== undefined && count > 0) this.#active = to;
    else return;
    event.preventDefault();
    this.#draw();
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  #draw() {
    const view = this.#view;
    if (!view) return;
    const { t } = view;
    const options = this.#options();
    const asked = this.#text.trim();
    render(
      html`<button type="button" class="btn" data-find aria-haspopup="dialog" aria-keyshortcuts="/ Control+K"
        title=${t('find.label')} @click=${() => this.start()}>${t('find.title')}<kbd aria-hidden="true">/</kbd></button>
        <dialog class="palette" aria-label=${t('find.label')}
          @click=${closeBeside}>
          <div class="ask">
            <input type="text" role="combobox" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="go"
              maxlength="200" placeholder=${t('find.placeholder')} aria-label=${t('find.label')} aria-autocomplete="list"
              aria-expanded=${options.length > 0 ? 'true' : 'false'} aria-controls="find-list"
              aria-activedescendant=${options.length > 0 ? `find-${this.#active}` : nothing}
              @input=${(/** @type {Event} */ event) => this.#type(/** @type {HTMLInputElement} */ (event.target).value)} @keydown=${(/** @type {KeyboardEvent} */ event) => this.#key(event)}>
            <button type="button" class="btn" data-find-close
              @click=${() => this.querySelector('dialog')?.close()}>${t('help.close')}</button>
          </div>
          ${asked === '' ? html`<p class="lead">${t('find.ask')}</p>` : nothing}
          ${
            asked !== '' && options.length === 0
              ? html`<p class="lead"
            data-find-none>${t('find.none', { query: asked })}</p><p class="lead soft">${t('find.can')}</p>`
              : nothing
          }
          <ul id="find-list" role="listbox" aria-label=${t('find.results')}
            ?hidden=${options.length === 0}>${options.map((option, place) => this.#option(view, option, place))}</ul>
          <p class="foot" ?hidden=${asked === '' || (options.length === 0 && view.numSteps <= this.others().length)}><span
            role="status"
            data-find-status>${asked === '' || options.length === 0 ? nothing : t('find.count', { n: options.length })}${this.#capped && asked !== '' ? ` ${t('find.capped')}` : nothing}</span><span>${this.#searched(view)}</span></p>
        </dialog>`,
      this,
    );
  }

  /** @param {View} view @param {Hit | string} option @param {number} place */
  #option(view, option, place) {
    const content = typeof option === 'string' ? html`<span class="what">${option}</span>` : meaning(view, option);
    const key = typeof option === 'string' || !option.cell ? nothing : `${option.cell.space}.${option.cell.at.join('.')}`;
    return html`<li role="option" id="find-${place}" data-hit=${key}
      aria-selected=${place === this.#active ? 'true' : 'false'}
      @pointerdown=${(/** @type {Event} */ event) => event.preventDefault()} @click=${() => this.#choose(place)}>${content}</li>`;
  }

  /** Which steps were looked through, where it is not all of them. @param {View} view */
  #searched({ t, numSteps, step }) {
    const known = [...new Set([step.index, ...this.others().map(({ index }) => index)])].sort((a, b) => a - b);
    return known.length < numSteps ? t('find.searched', { steps: runs(known, t), n: numSteps }) : nothing;
  }
}

/** @param {View} view @param {Hit} found */
function meaning(view, found) {
  const { t } = view;
  const { kind, number, says, params, request } = found;
  const head =
    kind === 'cell' || kind === 'term'
      ? html`<code>${number}</code>`
      : kind === 'request'
        ? html`${t('find.kind.request')} ${requestTag(view, number)}`
        : request !== null && OF_REQUEST.has(kind)
          ? t('find.example.of', { kind: t(`find.kind.${kind}`), number, req_id: request })
          : html`${t(`find.kind.${kind}`)} ${number}`;
  const names = view.constants.group_names ?? [];
  const group =
    names.length > 1 && ['slot', 'block', 'logical_block'].includes(kind)
      ? html`<span class="aside">${names[found.group]}</span>`
      : nothing;
  const other =
    found.step === view.index
      ? nothing
      : html`<span class="aside" data-other-step>${t('find.in_step', { step: String(found.step) })}</span>`;
  const tag = request !== null && kind !== 'request' ? requestTag(view, request) : nothing;
  const detail = t(`find.detail.${says}`, params);
  return html`<span class="what"><b
    class=${ACCENTS[kind] ?? ''}>${head}</b>${t('find.colon')}${t(`find.says.${says}`, params)}</span>
    <span class="more">${tag}${detail.startsWith('find.') ? nothing : html`<span>${detail}</span>`}${group}${other}</span>`;
}

/** Questions that the step on screen answers. @param {View} view @returns {string[]} */
function examplesOf({ t, step }) {
  const first = (/** @type {string} */ space, /** @type {number[]} */ at) => step.space(space)?.get(at);
  const name = step.json.req_ids[0];
  if (name === undefined) return [...step.rows.keys()].slice(0, 3);
  const questions = [
    ['slot', first('slot_mappings', [0, 0])],
    ['block', first('block_numbers', [0, 0])],
    ['token_id', first('input_ids', [0])],
    ['batch_row', 0],
  ];
  const asked = questions
    .filter(([, number]) => typeof number === 'number' && number >= 0)
    .map(([kind, number]) => t('find.example', { kind: t(`find.kind.${kind}`), number: String(number) }));
  const position = first('positions', [0]);
  if (typeof position === 'number')
    asked.splice(3, 0, t('find.example.of', { kind: t('find.kind.position'), number: String(position), req_id: name }));
  return [...asked, t('find.example', { kind: t('find.kind.request'), number: name })];
}

customElements.define('pw-find', Find);
