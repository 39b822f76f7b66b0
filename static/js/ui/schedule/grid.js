// @ts-check
/**
 * The grid of the schedule as a template: a row for each request, a column for each step; of a large one what is in sight.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { contains } from '../../core/scenario/selection.js';
import { isNull } from '../../core/trace/trace.js';
import { visible } from '../../core/viewport.js';
import { promptLength } from '../../core/scenario/walk.js';
import { scheduleCell } from './cell.js';
import { shows } from '../field.js';
import { requestClass, requestTag } from '../tag.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/viewport.js').Visible} Visible */
/**
 * @typedef {object} Frame  what the grid is drawn with besides the view
 * @property {Visible} rows
 * @property {Visible} columns
 * @property {import('../../core/scenario/selection.js').Place} active  the cell in focus, or the one that had it last
 * @property {import('../../core/scenario/selection.js').Rectangle | null} selected  where more than one cell is
 * @property {Set<string>} faults  "step|req_id", either part empty where it is about the other alone
 * @property {Set<number>} faultySteps
 * @property {number} renaming  the row whose name is typed, -1 if none
 */

/** As in the style sheet: on a phone a request has a second line. */
export const rowHeight = () => (innerWidth <= 700 ? 44 : 31);
export const COLUMN = 64;
const MANY_ROWS = 28;
const MANY_COLUMNS = 28;
/** Of a large grid whole bands of cells are drawn, so that most steps of the keyboard draw no other part of it. */
const BAND = 4;
const SPARE = 3;

/**
 * Which part of the grid is drawn.
 * @param {View} view
 * @param {Element | null} scroller
 * @returns {{rows: Visible, columns: Visible}}
 */
export function windowOf({ draft }, scroller) {
  const [rows, columns] = [draft.requests.length, draft.steps.length];
  const head = columns <= MANY_COLUMNS ? 0 : (scroller?.querySelector('thead th')?.getBoundingClientRect().width ?? 260);
  return {
    rows:
      rows <= MANY_ROWS
        ? all(rows)
        : bands({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 220, size: rowHeight(), count: rows }),
    columns:
      columns <= MANY_COLUMNS
        ? all(columns)
        : bands({
            scroll: scroller?.scrollLeft ?? 0,
            extent: (scroller?.clientWidth || 900) - head,
            size: COLUMN,
            count: columns,
          }),
  };
}

/** @param {number} count @returns {Visible} */
function all(count) {
  return { first: 0, last: count, before: 0, after: 0 };
}

/** @param {{scroll: number, extent: number, size: number, count: number}} view @returns {Visible} */
function bands(view) {
  const { first, last } = visible({ ...view, spare: SPARE });
  const [from, to] = [first - (first % BAND), Math.min(view.count, Math.ceil(last / BAND) * BAND)];
  return { first: from, last: to, before: from * view.size, after: (view.count - to) * view.size };
}

/** @param {View} view @param {Frame} frame */
export function scheduleGrid(view, frame) {
  const { t, draft } = view;
  const { rows, columns } = frame;
  const steps = Array.from({ length: columns.last - columns.first }, (_, place) => columns.first + place);
  const gap = (/** @type {number} */ width) =>
    width > 0 ? html`<td class="gap" aria-hidden="true" .style=${`min-width:${width}px`}></td>` : nothing;
  const spacer = (/** @type {number} */ height) =>
    height > 0 ? html`<tr aria-hidden="true"><td .style=${`height:${height}px`}></td></tr>` : nothing;
  const entry = {
    row: frame.active.row >= rows.first && frame.active.row < rows.last ? frame.active.row : rows.first,
    column:
      frame.active.column === -1 || (frame.active.column >= columns.first && frame.active.column < columns.last)
        ? frame.active.column
        : columns.first,
  };
  const line = { steps, entry, before: gap(columns.before), after: gap(columns.after) };
  return html`<div class="scroll" role="presentation"><table aria-label=${t('schedule.label')}
    aria-rowcount=${draft.requests.length + 1} aria-colcount=${draft.steps.length + 1}>
      <thead><tr><th scope="col" class="r"><span class="vh">${t('table.request')}</span><button type="button" class="btn"
        data-edit="add-request" data-step=${view.index}>${t('schedule.add_request')}</button></th>${gap(columns.before)}
        ${steps.map((step) => stepHead(view, frame, step))}
        ${gap(columns.after)}<th class="add"><button type="button" class="btn"
          data-edit="add-step">${t('schedule.add_step')}</button></th></tr></thead>
      <tbody>${spacer(rows.before)}
        ${draft.requests
          .slice(rows.first, rows.last)
          .map((request, place) => requestRow(view, frame, { ...line, request, row: rows.first + place }))}
        ${spacer(rows.after)}</tbody>
    </table></div>`;
}

/** @param {View} view @param {Frame} frame @param {number} step */
function stepHead(view, frame, step) {
  const { t } = view;
  const isNow = step === view.index;
  return html`<th scope="col"
    class="step ${isNow ? 'now' : ''} ${view.stopped && step >= view.stopped.step ? 'stopped' : ''}"
    aria-colindex=${step + 2}><button type="button" data-go-step=${step} tabindex=${isNow ? 0 : -1}
    aria-current=${isNow ? 'step' : nothing}
    ?data-fault=${frame.faultySteps.has(step)}>${t('step.name', { step })}</button><button type="button" class="more"
    tabindex=${isNow ? 0 : -1} data-step-menu=${step} aria-haspopup="menu" aria-label=${t('step.menu', { step })}
    title=${t('step.menu', { step })}><span aria-hidden="true">▾</span></button></th>`;
}

/**
 * @param {View} view @param {Frame} frame
 * @param {{request: import('../../core/scenario/edits.js').ScenarioRequest, row: number, steps: number[], entry:
 *   import('../../core/scenario/selection.js').Place, before: unknown, after: unknown}} line
 */
function requestRow(view, frame, { request, row, steps, entry, before, after }) {
  const { t } = view;
  const name = request.req_id;
  const length = request.prompt_len ?? promptLength(request);
  const [before_field, after_field] = t('schedule.prompt').split('{n}');
  const isSelected = (/** @type {number} */ column) => frame.selected !== null && contains(frame.selected, row, column);
  const isEntry = (/** @type {number} */ column) => entry.row === row && entry.column === column;
  const who =
    frame.renaming === row
      ? html`<input class="name" data-rename=${row} ${shows(name, `name ${name}`)} maxlength="128"
        autocomplete="off" spellcheck="false" aria-label=${t('request.name_of', { req_id: name })}>`
      : html`<span class="called" data-name=${row}>${requestTag(view, name)}</span>`;
  return html`<tr class=${requestClass(view, name)} data-req=${name} aria-rowindex=${row + 2}>
      <th scope="row" class="r"><span class="who">${who}${progress(view, name, promptLength(request))}
        <label class="prompt" ?data-selected=${isSelected(-1)}>${before_field.trim()}<input class="num" inputmode="numeric"
          enterkeyhint="next" autocomplete="off" tabindex=${isEntry(-1) ? 0 : -1} data-prompt=${row} data-row=${row}
          data-req=${name} data-column="-1" ${shows(String(length), `prompt ${name}`)}
          aria-label=${t('schedule.prompt_of', { req_id: name })}
          aria-invalid=${frame.faults.has(`|${name}`) ? 'true' : nothing}
          ?readonly=${request.prompt_token_ids !== undefined}>${after_field.trim()}</label>
        <span class="where">${whereabouts(view, name)}</span>
        <button type="button" class="btn menu" tabindex="-1" data-request-menu=${row} aria-haspopup="menu"
          aria-label=${t('request.menu', { req_id: name })} title=${t('request.menu', { req_id: name })}><span
          aria-hidden="true">⋯</span></button></span></th>
      ${before}${steps.map((step) => {
        const isBad = frame.faults.has(`${step}|${name}`);
        return scheduleCell(view, { req_id: name, row, step, isBad, isSelected: isSelected(step), isEntry: isEntry(step) });
      })}${after}
    </tr>`;
}

/**
 * How much of the prompt was computed before the step on screen.
 * @param {View} view
 * @param {string} name
 * @param {number} length
 */
function progress(view, name, length) {
  const done = computed(view, name);
  const part = done === null ? 0 : Math.min(100, (done / Math.max(1, length)) * 100);
  return html`<span class="bar" aria-hidden="true"><i .style=${`width:${part}%`}></i></span>`;
}

/** @param {View} view @param {string} name */
function computed(view, name) {
  const row = view.step.rows.get(name);
  if (row === undefined) return null;
  const value = view.step.space('num_computed_tokens')?.get([row]) ?? NaN;
  return isNull(value) ? null : /** @type {number} */ (value);
}

/** Whether the step on screen was run. @param {View} view */
export function isComputed(view) {
  return view.hasBoard && view.index < (view.stopped?.step ?? view.numSteps);
}

/** @param {View} view @param {string} name */
function whereabouts(view, name) {
  if (!isComputed(view)) return '';
  const done = computed(view, name);
  return done === null ? view.t('schedule.not_in_pool') : view.t('schedule.computed', { n: done });
}
