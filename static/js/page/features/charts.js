// @ts-check
/**
 * Opens and closes the charts over time, and fetches what they show: figures for the schedule on the board, and once
 * the script that draws them.
 *
 * Opening is an entry of the browser's history, so Back closes; the scenario stays as it is.
 */
import { hear } from '../../ui/view.js';
import { Problem, Unreachable } from '../api.js';

/** @typedef {import('../../ui/charts/charts.js').Charts} Element */
/** @typedef {import('../../ui/charts/charts.js').Plotly} Plotly */
/** @typedef {{path: string, style_ids: string[]}} Script */

export class ChartsControl {
  /** @param {import('../state/workbench.js').Workbench} bench @param {Element} element @param {HTMLElement} button */
  constructor(bench, element, button) {
    this.bench = bench;
    this.element = element;
    this.button = button;
    /** @type {import('../state/traces.js').Trace | null} what the charts show */
    this.shown = null;
    /** @type {{charts?: number, under?: number} | null} of the entry of the history that we are at */
    this.entry = history.state;
    /** The entry that is being left: going back takes a moment, in which it is still the present one. @type {number | null} */
    this.closing = null;
    /** Where the page was when the charts, which are below the board, were opened. */
    this.from = 0;
    button.addEventListener('click', () => (this.isOpen ? this.close() : this.open()));
    /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').ChartsMessages>} */
    const handlers = { 'charts-close': () => this.close() };
    hear(document, handlers);
    // Before the page's own: that one opens the scenario of the address anew.
    addEventListener('popstate', (event) => this.#travelled(event), { capture: true });
    if (history.state?.charts) this.#show();
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open() {
    const id = Date.now(); // tells the two entries that belong together
    history.replaceState({ ...history.state, under: id }, '');
    history.pushState({ charts: id }, '');
    this.from = scrollY;
    this.#show();
    this.element.focusTitle();
    this.element.scrollIntoView({ block: 'start' });
  }

  close() {
    const entry = history.state?.charts;
    if (!entry) return this.#hide();
    if (entry === this.closing) return; // once more would leave the page
    this.closing = entry;
    history.back();
  }

  /** @param {import('../../ui/view.js').View} view */
  draw(view) {
    this.entry = history.state;
    if (!this.isOpen) return;
    this.element.view = view;
    if (this.bench.trace !== this.shown && this.bench.trace.isLoaded) this.#fetch();
  }

  #show() {
    this.element.hidden = false;
    this.button.setAttribute('aria-expanded', 'true');
    this.draw(this.bench.view());
  }

  #hide() {
    const hadFocus = this.element.contains(document.activeElement) || document.activeElement === document.body;
    this.element.hidden = true;
    this.button.setAttribute('aria-expanded', 'false');
    if (!hadFocus) return;
    this.button.focus({ preventScroll: true });
    scrollTo({ top: this.from, behavior: 'instant' });
  }

  /** @param {PopStateEvent} event */
  #travelled(event) {
    const [from, to] = [this.entry, event.state];
    this.entry = to;
    this.closing = null;
    const isToggle = (from?.charts ?? NaN) === to?.under || (to?.charts ?? NaN) === from?.under;
    if (isToggle) event.stopImmediatePropagation();
    if (Boolean(to?.charts) !== this.isOpen) {
      if (to?.charts) this.#show();
      else this.#hide();
    }
    if (isToggle) this.bench.redraw(); // that entry's address says what is on screen now
  }

  async #fetch() {
    const { trace, t } = this.bench;
    this.shown = trace;
    this.element.update({ isBusy: true });
    try {
      const { charts, script } = await this.bench.api.charts(trace.scenario);
      if (trace !== this.shown) return;
      this.element.update({ charts, message: '' });
      const plotly = await drawingScript(this.bench.api.root, script);
      this.element.update({ plotly, message: plotly ? '' : t('chart.no_script') });
    } catch (error) {
      if (!(error instanceof Problem || error instanceof Unreachable)) throw error;
      if (trace !== this.shown) return;
      if (error instanceof Problem) this.element.update({ charts: [], message: error.message });
      else {
        this.shown = null; // asked for again with the next step or edit
        this.element.update({ message: t('chart.offline') });
      }
    } finally {
      if (trace === this.shown || this.shown === null) this.element.update({ isBusy: false });
    }
  }
}

/** @type {Promise<Plotly | null> | null} */
let loading = null;

/**
 * Loads the script once; null where it cannot be had, and then it is tried again.
 * @param {string} root
 * @param {Script} script
 */
function drawingScript(root, { path, style_ids }) {
  loading ??= new Promise((resolve) => {
    // The policy of the page refuses inline styles; where these elements are, the script does not try to add any.
    for (const id of style_ids) {
      const mark = document.createElement('meta');
      mark.id = id;
      mark.className = 'no-inline-styles';
      document.head.append(mark);
    }
    const element = document.createElement('script');
    element.src = `${root}/${path}`;
    element.addEventListener('load', () => resolve(/** @type {any} */ (globalThis).Plotly ?? null));
    element.addEventListener('error', () => {
      loading = null;
      resolve(null);
    });
    document.head.append(element);
  });
  return loading;
}
