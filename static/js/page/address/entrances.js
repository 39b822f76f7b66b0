// @ts-check
/**
 * What can be opened and how it is named: by the address, from the gallery, from the drafts that this browser keeps, from a
 * link that was pasted.
 *
 * In: the address, what the server embedded, the kept drafts. Out: openings for the workbench, and what is said of names
 * that lead nowhere.
 */
import { formatAddress, parseAddress } from '../../core/address/address.js';
import { LinkError } from '../../core/address/link.js';
import * as drafts from '../state/drafts.js';
import { brokenLink, findLink } from './link-entrance.js';

/**
 * @typedef {object} Boot  what the server embedded to begin with
 * @property {string} root  path that it is reached under
 * @property {string[]} languages  codes of those it speaks
 * @property {string | null} example  name of the embedded scenario, if it is an example
 * @property {string | null} short  its id, if it is that of a short link
 * @property {string} first  the example that nobody asked for
 * @property {import('../../core/gallery.js').Example | null} about  what the gallery says of the embedded example
 * @property {string | null} unknown_example
 * @property {any} scenario
 */
/** @typedef {import('../../core/address/address.js').Address} Address */
/** @typedef {import('../state/opening.js').Found} Found */
/** @typedef {import('../state/workbench.js').Origin} Origin */

export class Entrances {
  /** Where the page was loaded: the server has read that path, however it is spelt. */
  #landed = location.pathname;

  /**
   * @param {import('../state/workbench.js').Workbench} bench
   * @param {Boot} boot
   * @param {import('./address-bar.js').AddressBar} bar
   */
  constructor(bench, boot, bar) {
    this.bench = bench;
    this.boot = boot;
    this.bar = bar;
    addEventListener('popstate', () => {
      const before = bar.url;
      if (!bar.travelled()) return;
      this.#leave(before);
      this.openAddress();
    });
    this.#watchDrafts();
  }

  /** @param {string} search */
  #parse(search) {
    return parseAddress(search, {
      isView: (name) => this.bench.schema.isView(name),
      isLanguage: (code) => this.boot.languages.includes(code),
    });
  }

  /**
   * Opens another scenario, and its address is a new entry in the browser's history once it is there.
   * @param {() => any} load
   * @param {Origin} origin
   */
  openAs(load, origin) {
    return this.#openFound(async () => ({ scenario: await load(), origin }));
  }

  /**
   * Opens a link that somebody pasted or chose: a whole address, a short link, or what stands behind `s=`. Pasted in
   * place of a damaged one, it opens at the place that is left of that. If it cannot be read, what is open stays.
   * @param {string} text
   */
  async openLink(text) {
    const pasted = this.#parse(/\?[^\s)>\]"']*/.exec(text)?.[0] ?? '');
    if (pasted.s === null && (pasted.example ?? pasted.draft) !== null) return this.#openFound(() => this.#find(pasted));
    const short = pasted.s === null ? /^[^\s?#]*\/s\/([\w-]+)/.exec(text.trim())?.[1] : null;
    if (short) return this.#openFound(() => this.#short(short, pasted));
    const isPlaced = pasted.step !== null || pasted.stage !== null || pasted.pin !== null;
    const place = {
      ...(isPlaced || this.bench.origin.kind !== 'nothing' ? pasted : this.#parse(location.search)),
      draft: null,
    };
    try {
      await this.#openFound(() => findLink(this.bench, { ...place, s: text }));
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      const { notices = [] } = brokenLink(this.bench, place, error);
      this.bench.say(notices);
    }
  }

  /** @param {() => Found | Promise<Found>} find */
  #openFound(find) {
    const arrived = () => {
      this.bench.touch();
      if (this.bench.origin.kind === 'draft') this.bench.keep();
    };
    return this.bench.open({ find, arrived });
  }

  /**
   * What was being typed when the reader travelled away, or was not drawn yet, is in a draft that the entry left behind does
   * not name, or not as it is now. Back there, it does.
   * @param {string} url  path and query of that entry
   */
  #leave(url) {
    const { bench } = this;
    const isThere = !bench.elsewhere; // what is open is what that entry names
    bench.leave(false);
    const { origin } = bench;
    if (origin.kind !== 'draft' || !isThere) return;
    const named = this.#parse(/\?.*/.exec(url)?.[0] ?? '');
    const isNamed = named.draft === origin.name && (named.s === null || named.s === bench.link);
    if (isNamed) return;
    this.bar.leaveBehind(url, formatAddress({ ...named, s: null, example: null, draft: origin.name }), origin);
  }

  /** Opens what the address names; whatever of it cannot be had is said. */
  openAddress() {
    const address = this.#parse(location.search);
    const arrived = () => {
      const { origin } = this.bench;
      this.bar.adopt(origin);
      if (origin.kind === 'draft') this.bench.keep();
      if (origin.kind !== 'nothing') this.#settle(address);
    };
    return this.bench.open({ find: () => this.#find(address), arrived });
  }

  /** @param {Address} address @returns {Promise<Found>} */
  async #find(address) {
    const { whole, damaged } = this.bench.mode === 'embed' ? { whole: [], damaged: [] } : drafts.read();
    const isDamaged = address.draft !== null && damaged.includes(address.draft);
    const short = location.pathname === this.#landed ? this.boot.short : shortId(location.pathname, this.boot.root);
    const isShort = short !== null && [address.s, address.draft, address.example].every((name) => name === null);
    const found = isShort
      ? await this.#short(short, address)
      : address.s === null
        ? await this.#named(address, whole, isDamaged)
        : await this.#linked(address);
    if (damaged.length > 0) {
      if (!isDamaged || address.s !== null)
        found.notices = [
          ...(found.notices ?? []),
          { kind: 'damaged', message: this.bench.t('notice.damaged', { n: damaged.length }) },
        ];
      drafts.putDamagedAside();
    }
    return found;
  }

  /** @param {string} id @param {Address} place @returns {Promise<Found>} */
  async #short(id, place) {
    const { bench, boot } = this;
    return {
      scenario: id === boot.short ? boot.scenario : await bench.api.shortened(id),
      origin: { kind: 'short', name: id },
      place,
    };
  }

  /** @param {Address} address */
  async #linked(address) {
    try {
      return await findLink(this.bench, address);
    } catch (error) {
      if (error instanceof LinkError) return brokenLink(this.bench, address, error);
      throw error;
    }
  }

  /** @param {Address} address @param {drafts.Draft[]} whole @param {boolean} isDamaged @returns {Promise<Found>} */
  async #named(address, whole, isDamaged) {
    const { bench, boot } = this;
    const { s, example, draft, step, stage, pin, view, steps, rest, ignored } = address;
    const isBare =
      [s, example, draft, step, stage, pin, view, steps].every((value) => value === null) &&
      rest.length + ignored.length === 0;
    // A bare address shows what the page is about: the first token, followed to its slot.
    const place = isBare ? { pin: 'slot_mappings.0.0' } : address;
    const kept = whole.find(({ id }) => id === draft);
    if (kept) return { scenario: kept.scenario, origin: { kind: 'draft', name: kept.id }, place };
    if (!draft && example && boot.unknown_example !== example) {
      // Only named, an example opens where there is something to see.
      const isPlaced = [step, stage, pin].some((value) => value !== null) || !['board', null].includes(view);
      const isEmbedded = example === boot.example;
      const [scenario, there] = await Promise.all([
        isEmbedded ? boot.scenario : bench.api.example(example),
        isPlaced ? place : this.#placeOf(example),
      ]);
      return { scenario, origin: { kind: 'example', name: example }, place: there };
    }
    const scenario = boot.example === null ? await bench.api.example(boot.first) : boot.scenario;
    const { title } = scenario;
    const notices = [];
    if (draft)
      notices.push({
        kind: 'lost',
        message: bench.t(isDamaged ? 'notice.draft_damaged' : 'notice.draft_missing', { title }),
      });
    else if (example && boot.unknown_example === example)
      notices.push({ kind: 'example', message: bench.t('notice.no_example', { name: example, title }) });
    else if (isBare && whole.length > 0)
      notices.push({
        kind: 'draft',
        draft: whole[0].id,
        message: bench.t('notice.draft', { title: whole[0].title || bench.t('scenario.untitled') }),
      });
    return { scenario, origin: { kind: 'example', name: boot.example ?? boot.first }, place, notices };
  }

  /** @param {string} example */
  async #placeOf(example) {
    const { about } = this.boot;
    return (about?.name === example ? about : (await this.bench.api.examples()).find(({ name }) => name === example))?.place;
  }

  /** Drafts are one list for all tabs: what another one does to the draft open here is said, and does not lose it. */
  #watchDrafts() {
    addEventListener('storage', (event) => {
      if (event.key !== drafts.KEY || this.bench.origin.kind !== 'draft') return;
      const theirs = drafts.draft(this.bench.origin.name);
      if (theirs && JSON.stringify(theirs.scenario) !== JSON.stringify(this.bench.draft))
        this.bench.notice('elsewhere', this.bench.t('notice.elsewhere'), { draft: theirs.id });
      else this.bench.dismiss('elsewhere');
      this.bench.redraw();
    });
    // Twenty other drafts edited in another tab would have pushed it out.
    addEventListener('pagehide', () => {
      if (this.bench.origin.kind === 'draft' && this.bench.isKept && !drafts.draft(this.bench.origin.name))
        this.bench.keep();
    });
  }

  /**
   * What the address asked for and is not there is said once; from then on the address is that of what is shown.
   * @param {Address} address
   */
  #settle(address) {
    const ignored = [...address.ignored];
    if (this.bench.trace.isLoaded && address.pin !== null && !this.bench.pinned()) {
      ignored.push('pin');
      this.bench.dropPin();
    }
    if (ignored.length > 0)
      this.bench.notice('ignored', this.bench.t('notice.ignored', { names: ignored.join(this.bench.t('list.separator')) }));
    const moved = address.step !== null && address.step !== this.bench.index;
    if (moved) this.bench.notice('step', this.#another(Number(address.step)));
    if (moved || this.bench.notices.some(({ kind }) => ['ignored', 'lost', 'example'].includes(kind))) this.bench.touch();
  }

  /** Why it is not the step that was asked for. @param {number} asked */
  #another(asked) {
    const { t, index, trace, course } = this.bench;
    if (asked < 0 || asked >= trace.numSteps) return t('notice.step', { asked: String(asked), step: String(index) });
    const [first, last] = [course.clip(0, trace), course.clip(Infinity, trace)].map(String);
    return t(first === last ? 'notice.step_kept.same' : 'notice.step_kept', { first, last, step: String(index) });
  }
}

/** The id in the address of a short link. @param {string} path @param {string} root @returns {string | null} */
function shortId(path, root) {
  const found = path.startsWith(`${root}/s/`) ? path.slice(root.length + 3) : '';
  return /^[\w-]+$/.test(found) ? found : null;
}
