// @ts-check
/** The line above the grid: what the step runs, what was done or is selected, and the tools. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { stageSentence } from '../../core/trace/summary.js';
import { elementSteps } from '../board/elements.js';
import { isComputed } from './grid.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */

/**
 * @param {View} view
 * @param {{told: string, isDetailed: boolean}} state  told: what is said in place of the step's sentence
 */
export function scheduleHead(view, { told, isDetailed }) {
  const { t, draft } = view;
  const travel = (/** @type {'undo' | 'redo'} */ which, /** @type {boolean} */ can) =>
    html`<button type="button" class="btn" data-undo=${which === 'undo' ? '' : nothing}
      data-redo=${which === 'redo' ? '' : nothing} aria-disabled=${can ? nothing : 'true'}
      @click=${(/** @type {Event} */ event) => can && say(/** @type {Element} */ (event.currentTarget), which)}>${t(`edit.${which}`)}</button>`;
  return html`<header>
    <h2 id="title-schedule"><button type="button" data-stage-button
      aria-current=${view.stage === 'schedule' ? 'step' : nothing}
      @click=${(/** @type {{currentTarget: Element}} */ { currentTarget }) =>
        say(currentTarget, 'go', { stage: 'schedule' })}>${t('stage.schedule')}</button></h2>
    ${sentence(view, told)}
    <span class="vh" role="status">${told}</span>
    ${view.faults.length > 0 || told ? nothing : elementSteps(view, 'schedule')}
    <span class="tools">
      <pw-editor-tools></pw-editor-tools>
      ${view.canUndo || view.canRedo ? html`${travel('undo', view.canUndo)}${travel('redo', view.canRedo)}` : nothing}
      ${
        draft.requests.length > 0
          ? html`<button type="button" class="btn" data-details-toggle aria-expanded=${isDetailed}
        aria-controls="schedule-details" title=${t('details.open.what')}>${t('details.title')}</button>`
          : nothing
      }
      <button type="button" class="btn" data-new
        @click=${(/** @type {Event} */ event) => say(/** @type {Element} */ (event.currentTarget), 'new')}
        title=${t('schedule.new.what')}>${t('schedule.new')}</button>
    </span>
  </header>`;
}

/**
 * What the step runs; in its place, while the draft cannot be run, that the board is not the draft's.
 * @param {View} view
 * @param {string} told
 */
function sentence(view, told) {
  const { t, draft, faults, hasBoard } = view;
  if (told) return html`<p class="sentence said" aria-hidden="true">${told}</p>`;
  if (faults.length > 0)
    return html`<p class="sentence wrong" data-notice="last-valid"><span
      class="says">${t(hasBoard ? 'notice.last_valid' : 'notice.not_yet')}</span><span
      class="short">${t('notice.not_run')}</span> ${
        hasBoard ? html`<button type="button" class="btn" data-notice="revert">${t('notice.revert')}</button>` : nothing
      }</p>`;
  return html`<p
    class="sentence">${draft.requests.length > 0 && isComputed(view) ? stageSentence(view.step, 'schedule', t) : nothing}</p>`;
}
