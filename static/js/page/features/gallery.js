// @ts-check
/**
 * The scenarios and the workbench: the gallery, fetched once somebody asks for it; what this browser keeps; and the question
 * of the example that is open.
 *
 * In: events of the dialog and of other tabs. Out: openings, changes of what is kept, and the dialog drawn with what is
 * there.
 */
import { Problem, Unreachable } from '../api.js';
import { formatAddress, parseAddress } from '../../core/address/address.js';
import { hear } from '../../ui/view.js';
import * as drafts from '../state/drafts.js';
import { changed } from '../state/editing.js';
import * as recents from '../state/recents.js';

/** @typedef {import('../../core/gallery.js').Example} Example */
/** @typedef {import('../../ui/view.js').View} View */
/**
 * @template Group
 * @typedef {import('../../ui/messages.js').Handlers<Group>} Handlers
 */

/** Names of the examples whose question the reader put away. */
const PUT_AWAY = 'pagewalk.questions';

export class GalleryControl {
  /** @type {Example[] | null} */
  #examples = null;
  #failure = '';
  #isAsking = false;
  #storage = '';
  /** The origin that was noted down as opened. @type {import('../state/workbench.js').Origin | null} */
  #noted = null;
  #box = /** @type {import('../../ui/gallery/gallery.js').Gallery} */ (document.querySelector('pw-gallery'));
  #question = /** @type {import('../../ui/gallery/question.js').Question} */ (document.querySelector('pw-question'));

  /**
   * @param {import('../state/workbench.js').Workbench} bench
   * @param {import('../address/entrances.js').Entrances} entrances
   * @param {Example | null} about  the example that came with the page
   */
  constructor(bench, entrances, about) {
    this.bench = bench;
    this.about = about;
    /** @type {Handlers<import('../../ui/messages.js').GalleryMessages>} */
    const handlers = {
      choose({ search }) {
        document.getElementById('board')?.focus({ preventScroll: true });
        return entrances.openLink(search);
      },
      draft: (what) => this.#change(what),
      forget: ({ search }) => {
        recents.forget(search);
        this.#update();
        this.#box.focusSection('recents');
      },
      list: () => this.#list(),
    };
    hear(this.#box, handlers);
    /** @type {Handlers<import('../../ui/messages.js').QuestionMessages>} */
    const asked = {
      'put-away'({ name }) {
        putAway(name);
        document.getElementById('board')?.focus({ preventScroll: true }); // the button goes
        bench.redraw();
      },
    };
    hear(this.#question, asked);
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-gallery]'))) {
      button.addEventListener('click', () => this.open(/** @type {'' | 'drafts'} */ (button.dataset.gallery ?? '')));
    }
    addEventListener('storage', ({ key }) => {
      if (key === null || [drafts.KEY, drafts.DELETED, recents.KEY].includes(key)) this.#elsewhere();
    });
  }

  /** @param {'' | 'drafts' | 'recents'} [section] */
  open(section = '') {
    this.#storage = '';
    this.#list();
    this.#box.open(this.#shelf(), section);
  }

  /** @param {View} view */
  draw(view) {
    this.#note(view);
    const { origin } = this.bench;
    const example = origin.kind === 'example' ? this.#example(origin.name) : null;
    if (origin.kind === 'example' && origin.name && !example && !this.#examples && !this.#failure) this.#list(); // for its question
    this.#question.show({ t: view.t, example: example && !isPutAway(example.name) ? example : null });
    if (this.#box.isOpen) this.#update();
  }

  /** @param {string} name */
  #example(name) {
    return this.#examples?.find((one) => one.name === name) ?? (this.about?.name === name ? this.about : null);
  }

  /** Examples and links that were opened on purpose; a bare address opens what nobody chose. @param {View} view */
  #note(view) {
    const { bench } = this;
    const { kind, name } = bench.origin;
    if (bench.origin === this.#noted || !bench.opened || bench.mode === 'embed') return;
    // A short link is noted as what it stands for, which needs no server that remembers it.
    const link = kind === 'link' ? name : kind === 'short' ? bench.link : '';
    if (link === null) return; // it is being made
    this.#noted = bench.origin;
    const isChosen = bench.touched || parseAddress(location.search).example !== null;
    if (kind === 'example' && isChosen) recents.note(formatAddress({ example: name }), view.draft.title ?? '');
    else if (link) recents.note(formatAddress({ s: link }), view.draft.title ?? '');
  }

  async #list() {
    if (this.#examples || this.#isAsking) return;
    this.#isAsking = true;
    this.#failure = '';
    this.#update();
    try {
      this.#examples = await this.bench.api.examples();
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
      this.#failure = this.bench.t('gallery.offline');
    } finally {
      this.#isAsking = false;
    }
    this.#update();
    this.bench.redraw();
  }

  /** @param {import('../../ui/messages.js').GalleryMessages['draft']} what */
  #change(what) {
    const { bench } = this;
    const { kind, id } = what;
    const title = 'title' in what ? what.title : '';
    const found = drafts.draft(id);
    const isOpen = bench.origin.kind === 'draft' && bench.origin.name === id;
    if (kind === 'rename' && isOpen) bench.edit((draft) => changed(draft, { kind: 'title', text: title }));
    else
      this.#say(
        kind === 'rename'
          ? drafts.rename(id, title)
          : kind === 'duplicate'
            ? drafts.duplicate(id, title)
            : kind === 'delete'
              ? drafts.remove(id)
              : drafts.restore(id),
      );
    const isThere = drafts.draft(id) !== null;
    if (kind === 'delete' && found && !isThere) this.#box.gone.set(id, found);
    // It stays on screen, and is kept again with the next change.
    if (isOpen && bench.isKept !== isThere) {
      bench.setKept(isThere);
      bench.touch(); // from now on the address holds it
    }
    this.#update();
    const draft = `[data-draft="${CSS.escape(id)}"]`;
    if (kind === 'delete' && !isThere) this.#box.redraw(`[data-gone="${CSS.escape(id)}"] button`);
    else if (kind === 'duplicate') this.#box.redraw('[data-draft] a');
    else this.#box.redraw(`${draft} ${kind === 'rename' ? '[data-act=rename]' : 'a'}`);
  }

  /** @param {drafts.Kept} kept */
  #say(kept) {
    this.#storage = kept === 'kept' ? '' : this.bench.t(kept === 'full' ? 'own.storage_full' : 'own.storage');
  }

  /** Another tab changed what is kept. */
  #elsewhere() {
    const { bench } = this;
    if (bench.origin.kind === 'draft' && drafts.isDeleted(bench.origin.name)) bench.setKept(false);
    this.#update();
  }

  #update() {
    if (this.#box.isOpen) this.#box.update(this.#shelf());
  }

  /** @returns {import('../../ui/gallery/gallery.js').Shelf} */
  #shelf() {
    const { t, lang, origin } = this.bench;
    return {
      t,
      lang,
      examples: this.#examples,
      failure: this.#failure,
      drafts: drafts.drafts(),
      deleted: drafts.deleted(),
      recents: recents.recents(),
      most: drafts.MOST,
      storage: drafts.isBlocked() ? t('own.storage') : this.#storage,
      open: origin,
      now: Date.now(),
    };
  }
}

/** Where storage is blocked: for as long as the page is open. @type {Set<string>} */
const putAwayHere = new Set();

/** @param {string} name */
function isPutAway(name) {
  return putAwayHere.has(name) || namesPutAway().includes(name);
}

/** @param {string} name */
function putAway(name) {
  putAwayHere.add(name);
  try {
    localStorage.setItem(PUT_AWAY, JSON.stringify([...namesPutAway().filter((one) => one !== name), name].slice(-100)));
  } catch {
    // Storage is blocked or full.
  }
}

/** @returns {unknown[]} */
function namesPutAway() {
  try {
    const found = JSON.parse(localStorage.getItem(PUT_AWAY) ?? '[]');
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}
