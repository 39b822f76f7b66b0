// @ts-check
/**
 * What stands around the stage while presenting: a thin line that says where one is, the formula of the pinned cell, and the
 * stops before and after as buttons that a finger finds. It draws; `present.js` decides.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { besideStop, stopAt } from '../../core/trace/stop-points.js';
import { stageSentence } from '../../core/trace/summary.js';
import { formulaBar } from '../board/formula-bar.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/stop-points.js').Place} Place */
/**
 * @typedef {{view: View, concealed: boolean, isAsking: boolean, isFull: boolean, canFill: boolean, languages: {code:
 *   string, name: string, href: string}[], singleKeys: boolean}} TalkData
 */

export class Talk extends HTMLElement {
  /** @param {TalkData} data */
  set data(data) {
    const { view } = data;
    const here = { step: view.index, stage: view.stage };
    const beside = (/** @type {1 | -1} */ by) => besideStop(view.schema.stageNames, view.summary, view.range, here, by);
    render(
      html`${this.#line(data)}${formulaBar(view, { concealed: data.concealed, end: this.#ask(data) })}
        <p class="more-below" aria-hidden="true">↓ ${view.t('present.more')}</p>
        <nav class="beside-stops" aria-label=${view.t('present.beside')}>
          ${this.#neighbour(data, beside(-1), -1)}${this.#neighbour(data, beside(1), 1)}
        </nav>`,
      this,
    );
  }

  /** @param {TalkData} data */
  #line({ view, isAsking, isFull, canFill, languages }) {
    const { t } = view;
    const stop = stopAt(view.schema.stageNames, view.summary, view.range, { step: view.index, stage: view.stage });
    const button = (
      /** @type {import('../messages.js').TalkSwitch} */ name,
      /** @type {string} */ sign,
      /** @type {string} */ words,
    ) =>
      html`<button type="button" class="btn" data-talk=${name} aria-label=${words} title=${words}
        @click=${() => say(this, 'talk', { name })}><span aria-hidden="true">${sign}</span></button>`;
    return html`<div class="talk-line">
      <h1>${view.draft.title || t(view.isNothing ? 'scenario.nothing' : 'scenario.untitled')}</h1>
      <p class="where"><b>${t('step.now', { step: view.index })}</b> <span
        class="stage-name">${t(`stage.${view.stage}`)}</span>${
          isAsking
            ? html` <span class="label"
        data-asking>${t('present.asking')}</span>`
            : nothing
        }</p>
      <p class="stop" data-stop=${stop.number} data-stops=${stop.of}>${t('present.stop', stop)}</p>
      <div class="talk-tools" role="group" aria-label=${t('page.tools')}>
        ${languages.map(
          ({ code, name, href }) => html`<a class="btn" href=${href} hreflang=${code} lang=${code}
          data-lang-link=${code}>${name}</a>`,
        )}
        ${button('theme', '◐', t('present.theme'))}
        ${button('blank', '■', t('present.blank'))}
        ${canFill ? button('full', '⛶', t(isFull ? 'present.not_full' : 'present.full')) : nothing}
        ${button('help', '?', t('page.help'))}
        ${button('leave', '×', t('present.leave'))}
      </div>
    </div>`;
  }

  /** @param {TalkData} data */
  #ask({ view, concealed }) {
    const { t } = view;
    return html`<span class="ask"><button type="button" class="btn" data-talk="ask"
      aria-pressed=${concealed ? 'true' : 'false'}
      @click=${() => say(this, 'talk', { name: 'ask' })}>${concealed ? t('present.reveal') : t('present.conceal')}</button></span>`;
  }

  /** @param {TalkData} data @param {Place | null} place @param {1 | -1} by */
  #neighbour({ view, isAsking }, place, by) {
    const { t } = view;
    if (!place) return html`<span class="neighbour none">${by > 0 ? t('present.end') : t('present.beginning')}</span>`;
    const stage = t(`stage.${place.stage}`);
    const name = place.step === view.index ? stage : `${t('step.now', { step: place.step })} · ${stage}`;
    const gist = place.step === view.index && !isAsking ? stageSentence(view.step, place.stage, t) : '';
    const arrow = html`<span class="arrow-sign" aria-hidden="true">${by > 0 ? '›' : '‹'}</span>`;
    const words = html`<span class="words"><b>${name}</b>${
      gist
        ? html` <span
      class="gist">${gist}</span>`
        : nothing
    }</span>`;
    return html`<button type="button" class="neighbour ${by > 0 ? 'next' : 'back'}" data-stop-by=${by}
      @click=${() => say(this, 'talk', { name: 'stop', by })}><span
      class="vh">${by > 0 ? t('present.next') : t('present.back')} </span>${by < 0 ? arrow : nothing}${words}${by > 0 ? arrow : nothing}</button>`;
  }
}

customElements.define('pw-talk', Talk);
