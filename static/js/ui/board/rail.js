// @ts-check
/** The stages of a step, which one is current, and the way back and on. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { ALL } from '../../core/trace/schema.js';
import { say } from '../view.js';

export class Rail extends HTMLElement {
  #shown = '';

  /** @param {import('../view.js').View} view */
  set view(view) {
    const { t, stage, index, numSteps, range, schema } = view;
    this.hidden = numSteps === 0 || !view.hasBoard;
    const first = index <= range.first && (stage === schema.firstStage || stage === ALL);
    const last = index >= range.last && (stage === schema.lastStage || stage === ALL);
    const link = (/** @type {string} */ name, /** @type {unknown} */ number) =>
      html`<li><button type="button" class="stage" data-go-stage=${name} aria-current=${stage === name ? 'step' : nothing}
        @click=${() => say(this, 'go', { stage: name })}>${number}${t(`stage.${name}`)}</button></li>`;
    render(
      html`<nav aria-label=${t('rail.label')}>
        <ol>${schema.stageNames.map((name, place) =>
          link(
            name,
            html`<span
          class="number">${place + 1}</span>`,
          ),
        )}${link(ALL, nothing)}</ol>
        <span class="steps">
          <span class="where" data-step-name>${t('step.now', { step: index })}</span>
          <button type="button" class="btn" data-back aria-disabled=${first ? 'true' : nothing}
            @click=${() => !first && say(this, 'walk', { by: -1 })}>← ${t('rail.back')}</button>
          <button type="button" class="btn main" data-next aria-disabled=${last ? 'true' : nothing}
            @click=${() => !last && say(this, 'walk', { by: 1 })}>${t('rail.next')} →</button>
        </span>
      </nav>`,
      this,
    );
    if (stage !== this.#shown) this.#reveal();
    this.#shown = stage;
  }

  /** On a narrow page the rail itself scrolls: the current stage stays in sight. */
  #reveal() {
    const list = this.querySelector('ol');
    const current = /** @type {HTMLElement | null} */ (this.querySelector('.stage[aria-current]'));
    if (!list || !current || list.scrollWidth <= list.clientWidth) return;
    const box = current.getBoundingClientRect();
    const frame = list.getBoundingClientRect();
    list.scrollLeft += box.left + box.width / 2 - (frame.left + frame.width / 2);
  }
}

customElements.define('pw-rail', Rail);
