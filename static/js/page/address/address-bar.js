// @ts-check
/**
 * The address in the browser's bar: always that of what is on screen. Another scenario is a new entry of the history;
 * another place in the same one takes the entry's address over.
 *
 * Browsers refuse more than some hundred of these in half a minute (Safari 100, Chrome 200). So what comes too fast is
 * written a moment later, the last of it; it is noted for the case that the page is loaded anew in that moment. A reload that
 * was asked for a moment before a write loads the address from before it: that is noted as well.
 */

/** @typedef {{url: string, isNew: boolean, scenario: string}} Wanted  url: path and query */

/** What the bar is to show and does not yet, for this tab. */
const AHEAD = 'pagewalk.address';
/** Addresses that a reload may still load, the last ones of this page. */
const MOST_RECENT = 8;
/** So many at once, and then one each so many milliseconds: at most 95 in any 30 seconds. */
const AT_ONCE = 20;
const EVERY = 400;

export class AddressBar {
  /** Which scenario the present entry stands for; null where that is not known. @type {string | null} */
  #scenario = null;
  /** @type {Wanted | null} */
  #late = null;
  /** What the bar showed before, the last one last. @type {string[]} */
  #recent = [];
  /** What entries that were left ought to show, by what they do show. @type {Map<string, string>} */
  #behind = new Map();
  #credit = AT_ONCE;
  #credited = 0;

  /**
   * @param {Pick<typeof globalThis, 'history' | 'location' | 'sessionStorage' | 'performance' | 'setTimeout'>} host
   * @param {(origin: import('../state/workbench.js').Origin) => string} pathOf  where a scenario of this kind is
   */
  constructor(host = globalThis, pathOf = () => host.location.pathname) {
    this.host = host;
    this.pathOf = pathOf;
    this.#catchUp();
    /** Path and query of the present entry. */
    this.url = this.#shown();
  }

  #shown() {
    const { pathname, search } = this.host.location;
    return pathname + search;
  }

  /**
   * The present entry of the history stands for this scenario now.
   * @param {import('../state/workbench.js').Origin} origin
   */
  adopt(origin) {
    this.#scenario = nameOf(origin);
  }

  /**
   * The reader travelled in the history.
   * @returns {boolean} whether to another query: else only to another place of the same page
   */
  travelled() {
    const before = this.url;
    this.url = this.#shown();
    if (before === this.url) return false;
    this.#scenario = null;
    this.#recent = [];
    this.#forget(); // it was about another entry
    this.#catchUpBehind();
    return true;
  }

  /**
   * An entry that the reader travelled away from was to show something else, and can be given that only once we are back.
   * @param {string} shown  path and query of that entry
   * @param {string} search @param {import('../state/workbench.js').Origin} origin
   */
  leaveBehind(shown, search, origin) {
    this.#behind.set(shown, this.pathOf(origin) + search);
  }

  #catchUpBehind() {
    const { history } = this.host;
    const url = this.#behind.get(this.url);
    if (url === undefined) return;
    this.#behind.delete(this.url);
    history.replaceState(history.state, '', url);
    this.url = url;
  }

  /** @param {string} search  the query, with its question mark @param {import('../state/workbench.js').Origin} origin */
  write(search, origin) {
    const scenario = nameOf(origin);
    const isNew = this.#scenario !== null && this.#scenario !== scenario;
    if (isNew && this.#late && !this.#late.isNew) this.#now(this.#late); // what is left behind is left as it was last
    const isLate = this.#late !== null;
    const wanted = { url: this.pathOf(origin) + search, scenario, isNew: isNew || (this.#late?.isNew ?? false) };
    if (wanted.url === this.#shown() && !isLate) {
      this.#scenario = scenario;
      return;
    }
    if (isLate) this.#later(wanted);
    else if (this.#mayWrite()) this.#now(wanted);
    else {
      this.#later(wanted);
      this.#wait();
    }
  }

  /**
   * The page is left, and takes no other address any more: noted for the case that it is loaded anew.
   * @param {string} search @param {import('../state/workbench.js').Origin} origin
   */
  leave(search, origin) {
    this.#noteFor(this.pathOf(origin) + search);
  }

  /** @param {string} to  where a page that is loaded from here belongs */
  #noteFor(to) {
    this.#note(JSON.stringify({ from: [...this.#recent, this.#shown()], to }));
  }

  #mayWrite() {
    const now = this.host.performance.now();
    this.#credit = Math.min(AT_ONCE, this.#credit + (now - this.#credited) / EVERY);
    this.#credited = now;
    return this.#credit >= 1;
  }

  /** @param {Wanted} wanted */
  #now({ url, isNew, scenario }) {
    const { history } = this.host;
    this.#credit -= 1;
    if (url !== this.#shown()) {
      this.#recent = [...this.#recent, this.#shown()].slice(-MOST_RECENT);
      if (isNew) history.pushState(null, '', url);
      else history.replaceState(history.state, '', url);
    }
    this.url = url;
    this.#scenario = scenario;
    this.#forget();
  }

  /** @param {Wanted} wanted */
  #later(wanted) {
    this.#late = wanted;
    this.#scenario = wanted.scenario;
    this.#noteFor(wanted.url);
  }

  #wait() {
    this.host.setTimeout(() => {
      if (!this.#late) return;
      if (this.#mayWrite()) this.#now(this.#late);
      else this.#wait();
    }, EVERY);
  }

  #forget() {
    if (this.#late) this.#note(null);
    this.#late = null;
  }

  /** @param {string | null} text */
  #note(text) {
    try {
      if (text === null) this.host.sessionStorage.removeItem(AHEAD);
      else this.host.sessionStorage.setItem(AHEAD, text);
    } catch {
      // Storage is blocked: then a reload in that moment is a moment behind.
    }
  }

  /** The page was loaded anew before the bar showed what it was to show. */
  #catchUp() {
    try {
      const { history, performance, sessionStorage } = this.host;
      const { from, to } = JSON.parse(sessionStorage.getItem(AHEAD) ?? '{}');
      sessionStorage.removeItem(AHEAD);
      const [entry] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
      // Back from elsewhere it is the entry as it was left; only a reload may be late.
      const left = entry?.type === 'reload' ? from : entry?.type === 'navigate' ? [] : from.slice(-1);
      if (typeof to === 'string' && left.includes(this.#shown())) history.replaceState(history.state, '', to);
    } catch {
      // Storage is blocked, or holds something else.
    }
  }
}

/** @param {import('../state/workbench.js').Origin} origin */
function nameOf({ kind, name }) {
  return `${kind} ${name}`;
}
