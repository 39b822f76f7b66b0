// @ts-check
/**
 * What can be opened and how it is named: by the address, from the gallery, from the drafts that this browser keeps.
 *
 * In: the address, what the server embedded, the kept drafts. Out: openings for the workbench, entries of the history,
 * and what is said of names that lead nowhere.
 */
import { Problem, Unreachable } from './api.js';
import { formatAddress, parseAddress } from './core/address.js';
import * as drafts from './drafts.js';

/** @typedef {{example: string, unknown_example: string | null, scenario: any}} Boot  what the server embedded to begin with */

export class Entrances {
  /** @param {import('./workbench.js').Workbench} bench @param {Boot} boot */
  constructor(bench, boot) {
    this.bench = bench;
    this.boot = boot;
    addEventListener('popstate', () => this.openAddress());
    this.#watchDrafts();
  }

  /** Opens another scenario: a new entry in the browser's history, once it is there. @param {() => any} load @param {import('./workbench.js').Origin} origin */
  openAs(load, origin) {
    const arrived = () => {
      this.bench.touched = true;
      const address = location.pathname + formatAddress({ [origin.kind]: origin.name, lang: parseAddress(location.search).lang });
      if (address !== location.pathname + location.search) history.pushState(null, '', address);
      if (origin.kind === 'draft') this.bench.keep();
    };
    return this.bench.open({ load, origin, arrived });
  }

  /** Opens what the address names; whatever of it cannot be had is said. */
  openAddress() {
    const address = parseAddress(location.search);
    const bare = location.search === '' || Object.entries(address).every(([name, value]) => name === 'lang' || value === null || (Array.isArray(value) && value.length === 0));
    const { whole, damaged } = drafts.read();
    /** @type {import('./opening.js').Notice[]} */
    const notices = [];
    const notice = (/** @type {string} */ kind, /** @type {string} */ message) => notices.push({ kind, message });
    let load = () => this.boot.scenario;
    /** @type {import('./workbench.js').Origin} */
    let origin = { kind: 'example', name: this.boot.example };
    const kept = whole.find(({ id }) => id === address.draft);
    const isDamaged = address.draft !== null && damaged.includes(address.draft);
    if (kept) {
      load = () => kept.scenario;
      origin = { kind: 'draft', name: kept.id };
    } else if (address.draft) notice('lost', this.bench.t(isDamaged ? 'notice.draft_damaged' : 'notice.draft_missing'));
    else if (address.example && address.example !== this.boot.example) {
      const name = address.example;
      if (this.boot.unknown_example === name) notice('example', this.bench.t('notice.no_example', { name }));
      else {
        load = () => this.bench.api.example(name);
        origin = { kind: 'example', name };
      }
    } else if (bare && whole.length > 0) notice('draft', this.bench.t('notice.draft', { title: whole[0].title || this.bench.t('scenario.untitled') }));
    if (damaged.length > 0) {
      if (!isDamaged) notice('damaged', this.bench.t('notice.damaged', { n: damaged.length }));
      drafts.putDamagedAside();
    }
    if (address.rest.some(([name]) => name === 's')) notice('link', this.bench.t('notice.link_unreadable'));
    const arrived = () => {
      if (origin.kind === 'draft') this.bench.keep();
      this.#settle(address);
    };
    // A bare address shows what the page is about: the first token, followed to its slot.
    return this.bench.open({ load, origin, notices, arrived, place: bare ? { pin: 'slot_mappings.0.0' } : address });
  }

  /** The gallery: the page works without it. */
  async listExamples() {
    if (this.bench.examples.length > 0) return;
    try {
      this.bench.examples = await this.bench.api.examples();
      this.bench.redraw();
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
    }
  }

  /** Drafts are one list for all tabs: what another one does to the draft open here is said, and does not lose it. */
  #watchDrafts() {
    addEventListener('storage', (event) => {
      if (event.key !== drafts.KEY || this.bench.origin.kind !== 'draft') return;
      const theirs = drafts.draft(this.bench.origin.name);
      if (theirs && JSON.stringify(theirs.scenario) !== JSON.stringify(this.bench.draft)) this.bench.notice('elsewhere', this.bench.t('notice.elsewhere'));
      else this.bench.dismiss('elsewhere');
      this.bench.redraw();
    });
    // Twenty other drafts edited in another tab would have pushed it out.
    addEventListener('pagehide', () => {
      if (this.bench.origin.kind === 'draft' && !drafts.draft(this.bench.origin.name)) this.bench.keep();
    });
  }

  /** What the address asked for and is not there is said once; from then on the address is that of what is shown. @param {import('./core/address.js').Address} address */
  #settle(address) {
    const ignored = [...address.ignored];
    if (this.bench.trace.isLoaded && address.pin !== null && !this.bench.pinned()) {
      ignored.push('pin');
      this.bench.pin = null;
    }
    if (ignored.length > 0) this.bench.notice('ignored', this.bench.t('notice.ignored', { names: ignored.join(this.bench.t('list.separator')) }));
    const moved = address.step !== null && address.step !== this.bench.index;
    if (moved) this.bench.notice('step', this.bench.t('notice.step', { asked: String(address.step), step: String(this.bench.index) }));
    if (moved || this.bench.notices.some(({ kind }) => ['ignored', 'lost', 'example', 'link'].includes(kind))) this.bench.touched = true;
    this.bench.redraw();
  }
}
