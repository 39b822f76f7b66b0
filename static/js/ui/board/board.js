// @ts-check
/**
 * All stages of one step: the current one large and explained, the others small but whole.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { runsAcross } from '../../core/trace/layout.js';
import { ALL } from '../../core/trace/schema.js';
import { stageSentence } from '../../core/trace/summary.js';
import { sizesOf } from './columns.js';
import { elementSteps } from './elements.js';
import { between, panelOf } from './panels.js';
import { NOT_ON_BOARD, isSameView } from './same-view.js';
import { termButton, withTerms } from '../glossary/terms.js';
import { hear, say } from '../view.js';

/** @typedef {import('../view.js').View} View */

export class Board extends HTMLElement {
  /** @type {View | null} */
  #view = null;

  connectedCallback() {
    this.addEventListener('click', (event) => {
      const title = /** @type {HTMLElement} */ (event.target).closest('[data-go-stage]');
      if (title instanceof HTMLElement) say(this, 'go', { stage: title.dataset.goStage });
    });
    hear(this, { drawn: () => this.lines?.redraw() });
  }

  /** @returns {import('./mapping-lines.js').MappingLines | null} */
  get lines() {
    return this.querySelector('pw-lines');
  }

  /** @param {View} view */
  set view(view) {
    const old = this.#view;
    this.#view = view;
    // While one presents, the room on the screen decides as well.
    const isSame = view.mode === 'board' && isSameView(old, view, NOT_ON_BOARD) && isEmpty(old) === isEmpty(view);
    if (isSame) return;
    this.#draw();
    say(this, 'drawn');
  }

  #draw() {
    const view = /** @type {View} */ (this.#view);
    const { step, stage, schema, t } = view;
    if (step.empty) {
      render(html`<div class="board" data-stage-now=${stage}>${this.#instead(view)}</div>`, this);
      return;
    }
    const sizes = sizesOf(view);
    const tiers = schema.tiers.map((stages) => this.#tier(view, stages, sizes));
    render(html`<div class="board" data-stage-now=${stage} data-step=${step.index}>${tiers}</div>`, this);
    this.setAttribute('aria-label', t('board.label', { step: step.index }));
  }

  /** @param {View} view @param {string[]} stages @param {Map<string, number>} sizes */
  #tier(view, stages, sizes) {
    const isWide = stages.some((name) => runsAcross(view.schema, name));
    return html`<div class="tier" data-across=${isWide ? '' : nothing}>
      ${stages.map((name) => html`${this.#panel(view, name, sizes)}${between(view, name)}`)}
    </div>`;
  }

  /** @param {View} view @param {string} name @param {Map<string, number>} sizes */
  #panel(view, name, sizes) {
    const { t, schema } = view;
    const now = view.stage === name || view.stage === ALL;
    return html`<section class="panel ${now ? 'now' : ''}" data-stage=${name}
      data-across=${runsAcross(schema, name) ? '' : nothing} data-current=${view.stage === name ? '' : nothing}
      aria-labelledby="title-${name}">
      <header>
        <h2 id="title-${name}"><button type="button" data-go-stage=${name}
          aria-current=${view.stage === name ? 'step' : nothing}>${t(`stage.${name}`)}</button></h2>
        <p class="sentence">${stageSentence(view.step, name, t)}</p>
        ${elementSteps(view, name)}
      </header>
      ${view.stage === name ? about(view, name) : nothing}
      ${view.stage === ALL ? html`<p class="gist-line">${withTerms(schema, t(`stage.${name}.what`))}</p>` : nothing}
      ${panelOf(name, view, now, sizes)}
    </section>`;
  }

  /** What stands in the board's place where there is no batch, and why. @param {View} view */
  #instead(view) {
    const { t, stopped } = view;
    if (isEmpty(view)) return nothing;
    const words = (/** @type {string} */ kind, /** @type {string} */ title, /** @type {string} */ text) =>
      html`<div class="empty" data-empty=${kind}><h2>${title}</h2><p>${text}</p></div>`;
    if (stopped && view.index >= stopped.step)
      return words('stopped', t('stopped.title', { step: view.index }), stopped.message);
    if (view.numSteps === 0) return words('no-steps', t('no_steps.title'), t('no_steps.text'));
    if (view.step.spaces.size === 0) return nothing; // nothing was ever computed: the faults say why
    const what = `${t('empty_step.text')} ${view.mode === 'board' ? t('empty_step.edit') : ''}`;
    // Some stages have something to say all the same: what lives longer than a step.
    const stages = view.schema.tiers.flat().filter((name) => view.step.json.sentences[name] !== undefined);
    return html`${words('step', t('empty_step.title', { step: view.index }), what)}
      ${stages.map((name) => html`<div class="tier">${this.#panel(view, name, sizesOf(view))}</div>`)}`;
  }
}

/** What a stage does and why, under its title. @param {View} view @param {string} name */
function about({ schema, t }, name) {
  const more = termButton(name, t('terms.more'), { kind: 'inline' });
  return html`<div class="about">
    <p>${withTerms(schema, t(`stage.${name}.what`))}</p>
    <p class="why">${withTerms(schema, t(`stage.${name}.why`))} ${more}</p>
  </div>`;
}

/** @param {View | null} view */
function isEmpty(view) {
  return view?.draft.requests.length === 0;
}

customElements.define('pw-board', Board);
