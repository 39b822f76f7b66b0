// @ts-check
/** One cell of the schedule: a field for what happens to a request in a step, and the button of its menu. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { isOrderedAsRows } from '../../core/scenario/arrange.js';
import { BY_REQUEST, countsOf, detailOf, scheduled } from '../../core/scenario/edits.js';
import { markOf } from '../../core/scenario/entry.js';
import { cellKey } from '../../core/trace/trace.js';
import { kindSaid, numGiven, walkOf } from '../../core/scenario/walk.js';
import { shows } from '../field.js';
import { requestClass } from '../tag.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/scenario/entry.js').Mark} Mark */

/** @param {import('../../core/i18n.js').Translate} t @param {Mark} mark */
export function markWord(t, mark) {
  return mark === 'finish' ? t('schedule.finishes') : t('schedule.preempted');
}

/**
 * What kind of work a cell is: the server's word, or a guess while it is asked.
 * @param {View} view
 * @param {string} reqId
 * @param {number} step
 */
export function kindOf(view, reqId, step) {
  const said = view.isStale ? null : kindSaid(view.summary[step], view.draft.steps[step], reqId);
  return said ?? walkOf(view.draft).work(step, reqId)?.kind ?? null;
}

/**
 * @param {View} view
 * @param {{req_id: string, row: number, step: number, isBad: boolean, isSelected: boolean, isEntry: boolean}} cell  entry:
 *   the way into the grid for Tab
 */
export function scheduleCell(view, { req_id, row, step, isBad, isSelected, isEntry }) {
  const { t, draft } = view;
  const mark = markOf(draft, step, req_id);
  const count = scheduled(draft, step, req_id) ?? '';
  // A step that both marks and schedules a request is wrong, and shows the count that is too much.
  const text = count !== '' || !mark ? String(count) : markWord(t, mark);
  const where = walkOf(draft).where(step, row);
  const kind = count === '' ? null : kindOf(view, req_id, step);
  const look =
    count !== ''
      ? `run ${requestClass(view, req_id)}`
      : mark
        ? `mark ${requestClass(view, req_id)}`
        : where === 'live'
          ? 'idle'
          : 'away';
  const key = step === view.index ? traceCell(view, req_id) : null;
  const isDetailed = BY_REQUEST.some((field) => detailOf(draft.steps[step], field, req_id) !== undefined);
  const order =
    count === '' || isOrderedAsRows(draft, step) ? null : (countsOf(draft.steps[step]).places.get(req_id) ?? 0) + 1;
  const menu = t('entry.menu', { req_id, step });
  const words = wordsOf(view, { req_id, step, kind, isIdle: count === '' && !mark, where, isDetailed, order });
  return html`<td class="${look} ${step === view.index ? 'now' : ''}" data-cell=${key ?? nothing} data-where=${where}
    data-mark=${mark ?? nothing} data-kind=${kind ?? nothing} ?data-detailed=${isDetailed} ?data-selected=${isSelected}
    title=${words || nothing}>${order === null ? nothing : html`<i class="order" aria-hidden="true">${order}.</i>`}
    <input class="num" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="next"
      tabindex=${isEntry ? 0 : -1} data-step=${step} data-req=${req_id} data-row=${row} data-column=${step}
      ${shows(text, `${step} ${req_id}`)} placeholder=${look === 'idle' ? '·' : nothing} aria-label=${t('schedule.cell', { req_id, step })}
      aria-description=${(isSelected ? `${t('selection.cell')} ` : '') + words || nothing}
      aria-invalid=${isBad ? 'true' : nothing}><button type="button" class="more" tabindex="-1" data-menu
      aria-haspopup="menu" aria-label=${menu} title=${menu}><span aria-hidden="true">▾</span></button></td>`;
}

/**
 * What a cell is, in words.
 * @param {View} view
 * @param {{req_id: string, step: number, kind: string | null, isIdle: boolean, where: string, isDetailed: boolean, order:
 *   number | null}} cell  order: its place in the step, from 1, where that is not the order of the rows
 */
function wordsOf({ t, draft }, { req_id, step, kind, isIdle, where, isDetailed, order }) {
  const said = [];
  if (kind) said.push(t(`kind.${kind}`));
  else if (isIdle) said.push(t(`entry.where.${where}`));
  if (order !== null) {
    const n = draft.steps[step].num_scheduled_tokens?.length ?? 0;
    said.push(t('entry.order', { place: String(order), n: String(n) }));
  }
  const drafts = numGiven(detailOf(draft.steps[step], 'draft_token_ids', req_id));
  if (drafts > 0) said.push(t('details.has_drafts', { n: drafts }));
  else if (isDetailed) said.push(t('details.has'));
  return said.join(t('list.separator'));
}

/** The cell of the trace that a cell of the step on screen is. @param {View} view @param {string} reqId */
function traceCell(view, reqId) {
  const names = view.step.space('schedule_req_ids')?.strings;
  const place = names ? names.indexOf(reqId) : -1;
  return place < 0 ? null : cellKey('schedule_num_tokens', [place]);
}
