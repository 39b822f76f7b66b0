// @ts-check
/**
 * The scenarios as a dialog: the gallery by groups, and what this browser keeps of the reader's own. A list of sections on
 * one side, their entries on the other; one box searches all of them.
 *
 * From the box and among the entries the up and down arrows move, Enter opens; Tab also reaches what else an entry offers.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { groupsOf, matches, namesOf, textsOf } from '../../core/gallery.js';
import { closeBeside } from '../backdrop.js';
import { exampleGroups } from './examples.js';
import { ownSections } from './own.js';
import { say } from '../view.js';

/** @typedef {import('../../core/gallery.js').Example} Example */
/**
 * @typedef {object} Shelf  everything that can be opened
 * @property {import('../../core/i18n.js').Translate} t
 * @property {string} lang
 * @property {Example[] | null} examples  null until they are there
 * @property {string} failure  why they are not
 * @property {import('../../page/state/drafts.js').Draft[]} drafts
 * @property {import('../../page/state/drafts.js').Deleted[]} deleted
 * @property {import('../../page/state/recents.js').Recent[]} recents
 * @property {number} most  drafts that are kept
 * @property {string} storage  why nothing more can be kept, '' if it can
 * @property {{kind: string, name: string}} open  what is open
 * @property {number} now
 */

const OWN = ['drafts', 'recents'];

export class Gallery extends HTMLElement {
  /** @type {Shelf | null} */
  #shelf = null;
  #text = '';
  /** Whether the reader's own are looked at, not the examples. */
  #isOwn = false;
  /** The section that is in sight. */
  #section = '';
  /** The draft whose name is being written. */
  naming = '';
  /**
   * Drafts that were deleted while the dialog is open, and stay in their place until it is closed.
   * @type {Map<string, import('../../page/state/drafts.js').Draft>}
   */
  gone = new Map();

  connectedCallback() {
    this.addEventListener('click', (event) => {
      const target = event.target instanceof Element ? event.target : null;
      if (target instanceof HTMLDialogElement) return closeBeside(event);
      const link = target?.closest('a[data-entry]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // to another tab or window
      event.preventDefault();
      this.#choose(/** @type {HTMLAnchorElement} */ (link));
    });
    this.addEventListener('keydown', (event) => this.#key(event));
  }

  get isOpen() {
    return this.querySelector('dialog')?.open ?? false;
  }

  /** @param {Shelf} shelf @param {'' | 'drafts' | 'recents'} [section] */
  open(shelf, section = '') {
    this.#text = this.naming = '';
    this.gone.clear();
    if (section) this.#isOwn = true;
    this.update(shelf);
    const dialog = /** @type {HTMLDialogElement} */ (this.querySelector('dialog'));
    if (!dialog.open) dialog.showModal();
    const input = /** @type {HTMLInputElement} */ (this.querySelector('input[type=search]'));
    input.value = '';
    // A keyboard that comes up would cover what there is to see.
    (matchMedia('(pointer: coarse)').matches ? /** @type {HTMLElement} */ (this.querySelector('h2')) : input).focus();
    if (section) this.#jump(section);
    else this.#findOpen();
    this.#scrolled();
  }

  close() {
    this.querySelector('dialog')?.close();
  }

  /** @param {Shelf} shelf */
  update(shelf) {
    const isNew = this.#shelf?.examples !== shelf.examples;
    this.#shelf = shelf;
    this.#draw();
    if (!this.isOpen) return;
    if (isNew) this.#findOpen();
    this.#scrolled();
  }

  /** What is open is in sight. */
  #findOpen() {
    this.querySelector('a[data-entry][aria-current]')?.closest('li')?.scrollIntoView({ block: 'center' });
  }

  /** Draws what has changed here, and puts the keyboard there. @param {string} selector */
  redraw(selector) {
    this.#draw();
    const element = /** @type {HTMLElement | null} */ (this.querySelector(selector));
    element?.focus();
    if (element instanceof HTMLInputElement) element.select();
  }

  /** What had the keyboard is gone. @param {string} key */
  focusSection(key) {
    /** @type {HTMLElement | null} */ (this.querySelector(`#gallery-${key}`))?.focus({ preventScroll: true });
  }

  /** @param {HTMLAnchorElement} link */
  #choose(link) {
    this.close();
    say(this, 'choose', { search: link.search });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const inSearch = target instanceof HTMLInputElement && target.type === 'search';
    const entries = /** @type {HTMLAnchorElement[]} */ ([...this.querySelectorAll('a[data-entry]')]);
    const place = entries.indexOf(/** @type {any} */ (target));
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || !(inSearch || place >= 0)) return;
    if (event.key === 'Enter' && inSearch && this.#text.trim() !== '' && entries[0]) this.#choose(entries[0]);
    else if (event.key === 'ArrowDown') entries[place + 1]?.focus();
    else if (event.key === 'ArrowUp' && place > 0) entries[place - 1].focus();
    else if (event.key === 'ArrowUp' && place === 0)
      /** @type {HTMLElement} */ (this.querySelector('input[type=search]')).focus();
    else if (event.key === 'Home' && place >= 0) entries[0].focus();
    else if (event.key === 'End' && place >= 0) entries[entries.length - 1].focus();
    else return;
    event.preventDefault();
  }

  /** What the search leaves of everything. @param {Shelf} shelf */
  #found(shelf) {
    const { t } = shelf;
    const query = this.#text.trim();
    const drafts = [
      ...shelf.drafts,
      ...[...this.gone.values()].filter(({ id }) => shelf.deleted.some((one) => one.id === id)),
    ].sort((a, b) => (b.saved ?? 0) - (a.saved ?? 0));
    const deleted = shelf.deleted.filter(({ id }) => !this.gone.has(id));
    if (query === '') return { examples: shelf.examples ?? [], drafts, recents: shelf.recents, deleted };
    return {
      examples: (shelf.examples ?? []).filter((one) => matches(query, textsOf(one))),
      drafts: drafts.filter(({ title, scenario }) =>
        matches(query, [title, scenario.description, namesOf(scenario, t('list.separator'), Infinity)]),
      ),
      recents: shelf.recents.filter(({ title }) => matches(query, [title])),
      deleted: [],
    };
  }

  #draw() {
    const shelf = this.#shelf;
    if (!shelf) return;
    const { t, examples, failure } = shelf;
    const found = this.#found(shelf);
    const isSearch = this.#text.trim() !== '';
    const groups = groupsOf(examples ?? []).map(({ group }, place) => ({
      key: `group-${place}`,
      group,
      examples: found.examples.filter((one) => one.group === group),
    }));
    const showsExamples = isSearch ? found.examples.length > 0 : !this.#isOwn;
    const showsOwn = isSearch ? found.drafts.length + found.recents.length > 0 : this.#isOwn;
    const kept = found.drafts.filter(({ id }) => shelf.drafts.some((one) => one.id === id));
    const total = found.examples.length + found.drafts.length + found.recents.length;
    render(
      html`<dialog class="gallery" aria-labelledby="gallery-title" @close=${() => this.#closed()}>
        <header><h2 id="gallery-title" tabindex="-1">${t('gallery.title')}</h2><button type="button" class="btn"
          data-gallery-close @click=${() => this.close()}>${t('help.close')}</button></header>
        <div class="panes">
          <div class="side">
            <input type="search" autocomplete="off" spellcheck="false" aria-label=${t('gallery.search')}
              placeholder=${t('gallery.placeholder')}
              @input=${(/** @type {Event} */ event) => this.#type(/** @type {HTMLInputElement} */ (event.target).value)}>
            <nav aria-label=${t('gallery.sections')}>
              <h3>${t('gallery.examples')}</h3>
              <ul>${
                groups.length > 0
                  ? groups.map((one) => this.#entry(one.key, one.group, one.examples.length))
                  : this.#entry('group-0', t('gallery.all_examples'), null)
              }</ul>
              <h3>${t('gallery.here')}</h3>
              <ul>${this.#entry('drafts', t('own.title'), kept.length)}${this.#entry(
                'recents',
                t('own.recent'),
                found.recents.length,
              )}</ul>
            </nav>
            <p class="new"><button type="button" class="btn main" data-gallery-new
              @click=${() => this.#new()}>${t('own.new')}</button></p>
          </div>
          <div class="shelf" tabindex="-1" @scroll=${() => this.#scrolled()}>
            <p class=${isSearch ? 'count' : 'vh'} role="status"
              data-found>${isSearch ? t(total > 0 ? 'gallery.count' : 'gallery.none', { n: total, query: this.#text.trim() }) : ''}</p>
            ${
              isSearch && total === 0
                ? html`<p><button type="button" class="btn main"
              @click=${() => this.#clear()}>${t('gallery.all')}</button></p>`
                : nothing
            }
            ${
              failure && (showsExamples || isSearch)
                ? html`<p class="notice warn" role="alert"
              data-gallery-failed>${failure} <button type="button" class="btn main"
              @click=${() => say(this, 'list')}>${t('notice.retry')}</button></p>`
                : nothing
            }
            ${
              !examples && !failure && showsExamples
                ? html`<p class="count"
              data-gallery-waits>${t('gallery.waits')}</p>`
                : nothing
            }
            ${showsExamples ? exampleGroups(shelf, groups) : nothing}
            ${showsOwn ? ownSections(this, shelf, found, isSearch) : nothing}
          </div>
        </div>
      </dialog>`,
      this,
    );
  }

  /** @param {string} key @param {string} name @param {number | null} count  null: not known yet */
  #entry(key, name, count) {
    const isHere = this.#section === key;
    return html`<li><button type="button" data-section=${key} aria-current=${isHere ? 'true' : nothing}
      ?disabled=${count === 0 && this.#text.trim() !== ''} @click=${() => this.#jump(key)}><span>${name}</span> <span
      class="num">${count ?? ''}</span></button></li>`;
  }

  /** @param {string} key */
  #jump(key) {
    this.#isOwn = OWN.includes(key);
    this.#draw();
    const heading = /** @type {HTMLElement | null} */ (this.querySelector(`#gallery-${key}`));
    heading?.scrollIntoView({ block: 'start' });
    heading?.focus({ preventScroll: true });
    this.#section = key;
    this.#draw();
  }

  /** The list on the side says where one is. */
  #scrolled() {
    const shelf = this.querySelector('.shelf');
    if (!shelf) return;
    const headings = [...shelf.querySelectorAll('h3[id]')];
    const top = shelf.getBoundingClientRect().top + 24;
    const isEnd = shelf.scrollTop + shelf.clientHeight >= shelf.scrollHeight - 2 && shelf.scrollTop > 0;
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top <= top);
    const jumped =
      document.activeElement instanceof HTMLElement && headings.includes(document.activeElement)
        ? document.activeElement
        : null;
    const key = ((isEnd && jumped) || passed[passed.length - 1] || headings[0])?.id.replace('gallery-', '') ?? '';
    if (key === this.#section) return;
    this.#section = key;
    this.#draw();
  }

  /** @param {string} text */
  #type(text) {
    this.#text = text;
    this.#draw();
    this.querySelector('.shelf')?.scrollTo({ top: 0 });
    this.#scrolled();
  }

  #clear() {
    const input = /** @type {HTMLInputElement} */ (this.querySelector('input[type=search]'));
    input.value = '';
    this.#type('');
    input.focus();
  }

  #new() {
    this.close();
    say(this, 'new');
  }

  #closed() {
    this.naming = '';
    this.gone.clear();
  }
}

customElements.define('pw-gallery', Gallery);
