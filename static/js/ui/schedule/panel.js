// @ts-check
/**
 * The schedule as a template: the line above the grid, the grid with what is wrong in it, the order of the step, the
 * details.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { placeOf } from '../../core/scenario/edits.js';
import { tablesOf } from '../../core/trace/layout.js';
import { ownerAlong } from '../../core/trace/owner.js';
import * as selecting from '../../core/scenario/selection.js';
import { callout } from './callout.js';
import { NOT_ON_BOARD, isSameView } from '../board/same-view.js';
import { scheduleDetails } from './details.js';
import { scheduleGrid } from './grid.js';
import { scheduleHead } from './head.js';
import { termButton } from '../glossary/terms.js';

/** @typedef {import('../view.js').View} View */
/**
 * @typedef {{selection: selecting.Selection, told: string, isDetailed: boolean, renaming: number}} State  what the
 *   schedule keeps itself
 */

/** @param {View} view @param {State} state @param {Pick<import('./grid.js').Frame, 'rows' | 'columns'>} part */
export function schedulePanel(view, state, part) {
  const { t, draft } = view;
  const { anchor } = state.selection;
  const now = view.stage === 'schedule' || view.stage === 'all';
  const isEmpty = draft.requests.length === 0;
  return html`<section class="panel schedule ${now ? 'now' : ''}" data-stage="schedule"
    data-current=${view.stage === 'schedule' ? '' : nothing} aria-labelledby="title-schedule">
      ${scheduleHead(view, { told: state.told || sizeSaid(view, state.selection), isDetailed: state.isDetailed })}
      ${
        view.stage === 'schedule'
          ? html`<div class="about"><p>${t('stage.schedule.what')}</p><p
        class="why">${t('stage.schedule.why')} ${termButton('schedule', t('terms.more'), { kind: 'inline' })}</p></div>`
          : nothing
      }
      ${
        isEmpty
          ? html`<div class="empty" data-empty-scenario><p>${t('schedule.empty')}</p><button type="button" class="btn main"
            data-edit="add-request" data-step="0">${t('schedule.first_request')}</button></div>${callout(view, null)}`
          : html`<div class="beside"><div
            class="plan">${scheduleGrid(view, frameOf(view, state, part))}${
              view.isEdited
                ? html`<p
            class="how">${t('schedule.how')}</p>`
                : nothing
            }${callout(view, anchor)}</div>${now && !view.step.empty ? order(view) : nothing}</div>`
      }
      ${state.isDetailed && !isEmpty ? scheduleDetails(view, state.selection) : nothing}
    </section>
    <pw-schedule-menu></pw-schedule-menu>`;
}

/**
 * @param {View} view
 * @param {State} state
 * @param {Pick<import('./grid.js').Frame, 'rows' | 'columns'>} part
 * @returns {import('./grid.js').Frame}
 */
function frameOf({ faults, draft }, { selection, renaming }, part) {
  const places = faults.map((fault) => placeOf(draft, fault));
  return {
    ...part,
    active: selection.anchor,
    selected: selecting.isMany(selection) ? selecting.rectangle(selection) : null,
    faults: new Set(places.map(({ step, reqId }) => `${step ?? ''}|${reqId ?? ''}`)),
    faultySteps: new Set(places.flatMap(({ step }) => (step === null ? [] : [step]))),
    renaming,
  };
}

/** How much is selected, where it is more than a cell. @param {View} view @param {selecting.Selection} selection */
function sizeSaid({ t, draft }, selection) {
  if (!selecting.isMany(selection)) return '';
  const { top, left, bottom, right } = selecting.rectangle(selection);
  const names = new Set(draft.requests.slice(top, bottom + 1).map(({ req_id }) => req_id));
  const pairs = draft.steps.slice(Math.max(0, left), right + 1).flatMap((step) => step.num_scheduled_tokens ?? []);
  const tokens = pairs.reduce((sum, [name, count]) => sum + (names.has(name) ? Number(count) || 0 : 0), 0);
  return t('selection.size', {
    requests: t('count.requests', { n: bottom - top + 1 }),
    steps: t('count.steps', { n: right - left + 1 }),
    tokens: t('count.tokens', { n: tokens }),
  });
}

/**
 * What the table of a step was drawn from, as long as it is the same.
 * @type {WeakMap<object, {view: View, data: object}>}
 */
const drawn = new WeakMap();

/** The schedule in its own order. @param {View} view */
function order(view) {
  let known = drawn.get(view.step);
  if (!known || !isSameView(known.view, view, NOT_ON_BOARD)) drawn.set(view.step, (known = { view, data: orderOf(view) }));
  return html`<div class="order">${/** @type {any} */ (known.data)}</div>`;
}

/** @param {View} view */
function orderOf(view) {
  const tables = tablesOf(view.schema, view.step, 'schedule');
  const owner = ownerAlong(view.links, 'schedule_idx');
  const label = view.t('schedule.order');
  return tables.map(({ axis, count, lines }) => {
    const entries = Array.from({ length: count }, (_, entry) => entry);
    return html`<pw-rows .data=${{ view, label, axis, entries, lines, big: true, owner }}></pw-rows>`;
  });
}
