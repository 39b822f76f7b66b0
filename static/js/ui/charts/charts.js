// @ts-check
/**
 * Charts over time: the server's figures in the page's colours, each with the sentence of the step on screen and its
 * numbers as a table. A chart is a slider over the steps: clicking a step, or the arrow keys, go there.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { dressed, stepMark, TOKENS } from '../../core/chart-style.js';
import './table.js';
import { requestTag } from '../tag.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/chart-style.js').Figure} Figure */
/**
 * @typedef {{name: string, title: string, description: string, figure: Figure, table: import('./table.js').Table,
 *   readings: string[]}} Chart
 */
/**
 * @typedef {{react: (div: HTMLElement, data: any, layout: any, config: any) => Promise<any>, relayout: (div: HTMLElement,
 *   change: any) => Promise<any>, purge: (div: HTMLElement) => void}} Plotly
 */

const CONFIG = {
  displayModeBar: false,
  displaylogo: false,
  doubleClick: false,
  scrollZoom: false,
  showTips: false,
  showAxisDragHandles: false,
};
const MOST_TAGS = 24;

export class Charts extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  /** @type {Chart[]} */
  #charts = [];
  /** @type {Plotly | null} */
  #plotly = null;
  #message = '';
  #isBusy = false;
  /**
   * What each plot shows, to leave alone what has not changed.
   * @type {WeakMap<Element, {figure: Figure, width: number, look: string, step: number}>}
   */
  #shown = new WeakMap();
  #resized = new ResizeObserver(() => this.#plot());

  connectedCallback() {
    this.#resized.observe(this);
    const restyle = () => this.#plot();
    new MutationObserver(restyle).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
    this.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Puts the keyboard here. */
  focusTitle() {
    /** @type {HTMLElement | null} */ (this.querySelector('h2'))?.focus();
  }

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    this.#draw();
  }

  /** @param {{charts?: Chart[], plotly?: Plotly | null, message?: string, isBusy?: boolean}} change */
  update({ charts = this.#charts, plotly = this.#plotly, message = this.#message, isBusy = this.#isBusy }) {
    this.#charts = charts;
    this.#plotly = plotly;
    this.#message = message;
    this.#isBusy = isBusy;
    this.#draw();
  }

  #draw() {
    const view = this.#view;
    if (!view || this.hidden) return;
    const { t } = view;
    const hasSteps = this.#charts.some(({ readings }) => readings.length > 0);
    render(
      html`<section class="charts" aria-labelledby="charts-title" aria-busy=${this.#isBusy}>
        <header>
          <h2 id="charts-title" tabindex="-1">${t('chart.title')}</h2>
          <p class="hint">${t('chart.keys')}</p>
          <button type="button" class="btn" data-close-charts aria-label=${t('chart.close')} title=${t('chart.close')}
            @click=${() => say(this, 'charts-close')}><span aria-hidden="true">×</span></button>
        </header>
        ${this.#message ? html`<p class="notice warn" role="status">${this.#message}</p>` : nothing}
        ${
          this.#charts.length === 0 && !this.#message
            ? html`<p class="wait"
          role="status">${t('chart.loading')}</p>`
            : nothing
        }
        ${this.#charts.length > 0 && !hasSteps ? html`<p class="wait">${t('chart.no_steps')}</p>` : nothing}
        ${hasSteps ? html`<div class="grid">${this.#charts.map((chart) => this.#chart(chart, view))}</div>` : nothing}
      </section>`,
      this,
    );
    this.#plot();
  }

  /** @param {Chart} chart @param {View} view */
  #chart(chart, view) {
    const { t, index } = view;
    const last = chart.readings.length - 1;
    const reading = chart.readings[index] ?? '';
    return html`<article data-chart=${chart.name}>
      <h3>${chart.title}</h3>
      <p class="description">${chart.description}</p>
      <ul class="key" aria-label=${t('chart.legend')}>${legend(chart, view)}</ul>
      <div class="plot" role="slider" tabindex="0" aria-label=${t('chart.slider', { title: chart.title })} aria-valuemin="0"
        aria-valuemax=${last} aria-valuenow=${Math.min(index, last)} aria-valuetext=${reading} data-plot=${chart.name}
        .style=${`min-height:${chart.figure.layout.height}px`} ?hidden=${this.#plotly === null}
        @click=${(/** @type {MouseEvent} */ event) => this.#click(event, last)}></div>
      <p class="reading" data-reading>${reading}</p>
      <pw-chart-table
        .data=${{ table: chart.table, stepColumn: chart.name === 'blocks' ? 1 : 0, step: index, caption: chart.title, t }}></pw-chart-table>
    </article>`;
  }

  #plot() {
    const view = this.#view;
    if (!view || !this.#plotly || this.hidden) return;
    const colours = this.#colours();
    const style = getComputedStyle(this);
    const look = JSON.stringify([colours, ...view.identities.values()]);
    for (const chart of this.#charts) {
      const div = /** @type {HTMLElement | null} */ (this.querySelector(`[data-plot="${chart.name}"]`));
      if (!div || div.clientWidth === 0) continue;
      const shown = this.#shown.get(div);
      const now = { figure: chart.figure, width: div.clientWidth, look, step: view.index };
      this.#shown.set(div, now);
      if (shown && shown.figure === now.figure && shown.width === now.width && shown.look === look) {
        if (shown.step !== now.step)
          this.#plotly.relayout(div, { shapes: stepMark(chart.figure.layout, { ...now, colours }) });
        continue;
      }
      const dress = {
        colours,
        sans: style.fontFamily,
        mono: style.getPropertyValue('--mono'),
        identities: view.identities,
        step: now.step,
        width: now.width,
      };
      const { data, layout } = dressed(chart.figure, dress);
      this.#plotly.react(div, data, layout, CONFIG);
    }
  }

  /** The page's colours as they are now, light or dark. */
  #colours() {
    const probe = document.createElement('i');
    probe.hidden = true;
    this.append(probe);
    const style = getComputedStyle(probe);
    const colours = Object.fromEntries(
      TOKENS.map((name) => {
        probe.style.color = `var(--${name})`;
        return [name, style.color];
      }),
    );
    probe.remove();
    return colours;
  }

  /** The step under the pointer, wherever in its column. @param {MouseEvent} event @param {number} last */
  #click(event, last) {
    const area = /** @type {HTMLElement} */ (event.currentTarget).querySelector('.nsewdrag')?.getBoundingClientRect();
    if (!area || area.width === 0) return;
    const step = Math.floor(((event.clientX - area.left) / area.width) * (last + 1));
    if (step >= 0 && step <= last) say(this, 'go', { step });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === 'Escape') say(this, 'charts-close');
    else if (event.target instanceof Element && event.target.matches('.plot') && this.#view) {
      const move = moveFor(event, (this.#charts[0]?.readings.length ?? 0) - 1);
      if (move === null) return;
      if ('by' in move) say(this, 'step', move);
      else say(this, 'go', move);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * The keys of a slider: so many steps on or back from where the page is going, or to an end.
 * @param {KeyboardEvent} event @param {number} last
 * @returns {{by: number} | {step: number} | null}
 */
function moveFor(event, last) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
  if (by !== undefined) return { by };
  return event.key === 'Home' ? { step: 0 } : event.key === 'End' ? { step: last } : null;
}

/** What the marks of a chart mean, in the page's own marks. @param {Chart} chart @param {View} view */
function legend(chart, view) {
  const { t } = view;
  const swatch = (/** @type {string} */ role, /** @type {string} */ name) =>
    html`<li><i class="swatch" data-role=${role}></i>${name}</li>`;
  /** @type {string[]} */
  const requests = [];
  /** @type {unknown[]} */
  const others = [];
  for (const { meta, name } of chart.figure.data) {
    if (meta.role === 'owner') requests.push(meta.req_id);
    else if (meta.role === 'owners') {
      requests.push(...meta.owners.map((/** @type {[number, string]} */ [, req_id]) => req_id));
      others.push(
        ...meta.kinds.map((/** @type {[number, string, string]} */ [, kind, words]) => swatch(`map-${kind}`, words)),
      );
    } else others.push(swatch(meta.role, name));
  }
  if (chart.name === 'blocks' && chart.figure.data[0]?.type === 'bar') others.push(swatch('free', t('chart.blocks.free')));
  return html`${requests.slice(0, MOST_TAGS).map((req_id) => html`<li>${requestTag(view, req_id)}</li>`)}
    ${requests.length > MOST_TAGS ? html`<li>${t('chart.legend.more', { n: requests.length - MOST_TAGS })}</li>` : nothing}${others}`;
}

customElements.define('pw-charts', Charts);
