// @ts-check
/**
 * What the panel of each stage holds. Tables come from the schema; this file only places them. What it knows of particular
 * stages is more than that: a drawing, tables side by side. A stage that it has never heard of has its tables one under the
 * other.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { runs } from '../../core/i18n.js';
import { tablesOf } from '../../core/trace/layout.js';
import { ownerAlong } from '../../core/trace/owner.js';
import { isNull } from '../../core/trace/trace.js';
import { widthOf } from './columns.js';
import { kvCache } from '../kv/panel.js';
import { named } from '../names.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/layout.js').TableModel} TableModel */

/**
 * @param {string} stage
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 */
export function panelOf(stage, view, big, sizes) {
  const tables = tablesOf(view.schema, view.step, stage)
    .map((table) => (big ? table : { ...table, lines: table.lines.filter((line) => shownSmall(view, stage, line.space)) }))
    .filter((table) => table.lines.length > 0);
  const known = /** @type {Record<string, (tables: TableModel[], view: View, big: boolean, sizes: Map<string,
      number>, stage: string) => unknown>} */ ({
    'state-pool': pool,
    flatten,
    'block-tables': blockTables,
    'kv-cache': kvCache(plain),
  })[stage];
  return (known ?? plain)(tables, view, big, sizes, stage);
}

/** What is drawn between a stage and the next one beside it. @param {View} view @param {string} stage */
export function between(view, stage) {
  return stage === 'state-pool' ? html`<pw-lines .view=${view}></pw-lines>` : nothing;
}

/**
 * Beside the large pool the batch keeps only what connects the two.
 * @param {View} view
 * @param {string} stage
 * @param {string} space
 */
function shownSmall(view, stage, space) {
  if (stage === 'batch' && view.control) return ORDERED.includes(space);
  if (view.stage === 'state-pool' && stage === 'batch') return space === 'idx_mapping';
  if (view.mode === 'present' && stage === 'state-pool') return space === 'num_computed_tokens'; // beside the batch: which rows they are
  return view.schema.isKey(space);
}

/** What a small batch keeps while ordering is shown: the rows and what they are sorted by. */
const ORDERED = ['idx_mapping', 'sort_key', 'schedule_idx'];

/**
 * @param {TableModel[]} tables
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 * @param {string} stage
 */
function plain(tables, view, big, sizes, stage) {
  return tables.map((table) => (table.across ? strip(table, view, big, sizes, null) : rows(table, view, big, stage)));
}

/**
 * @param {TableModel} table
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 * @param {string | null} boundary
 */
function strip(table, view, big, sizes, boundary) {
  const data = {
    view,
    label: view.t('table.along', { axis: table.axis }),
    axis: table.axis,
    dim: table.dim,
    count: table.count,
    real: realCount(view, table),
    lines: table.lines,
    big,
    // Strips one above the other have the same columns; the stage at hand alone has those it needs.
    width: Math.max(
      view.mode === 'present' ? 0 : (sizes.get(table.axis) ?? 0),
      widthOf(
        view,
        table.lines.map((line) => line.space),
      ),
    ),
    owner: ownerAlong(view.links, table.axis),
    boundary,
  };
  return html`<pw-strip .data=${data}></pw-strip>`;
}

/** How many entries a table has before the padding. @param {View} view @param {TableModel} table */
function realCount({ step }, { axis, count }) {
  return step.entries(axis) || count;
}

/**
 * @param {TableModel} table
 * @param {View} view
 * @param {boolean} big
 * @param {string} stage
 * @param {Partial<import('./rows-table.js').RowsData>} [more]
 */
function rows(table, view, big, stage, more = {}) {
  const data = {
    view,
    label: view.t('table.along', { axis: table.axis }) + (stage ? `, ${view.t(`stage.${stage}`)}` : ''),
    axis: table.axis,
    entries: Array.from({ length: table.count }, (_, entry) => entry),
    lines: table.lines,
    big,
    owner: ownerAlong(view.links, table.axis),
    mark: (/** @type {number} */ entry) => (entry >= realCount(view, table) ? view.t('state.padding') : ''),
    ...more,
  };
  return html`<pw-rows .data=${data}></pw-rows>`;
}

/**
 * Rows from the last to the first, the order they are handed out in; a small view leaves out those never used.
 * @param {TableModel[]} tables
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 * @param {string} stage
 */
function pool(tables, view, big, sizes, stage) {
  const { step, t } = view;
  const owner = ownerAlong(view.links, 'req_state_idx');
  const status = step.space('row_status');
  const free = new Set(step.json.free_indices);
  const next = step.json.free_indices[step.json.free_indices.length - 1];
  const mark = (/** @type {number} */ row) => {
    if (!free.has(row)) return '';
    if (big) return row === next ? t('pool.next') : '';
    return status?.get([row]) === 'freed' ? t('pool.freed') : t('pool.free');
  };
  const shownOwner = (/** @type {number} */ row) => (free.has(row) && status?.get([row]) !== 'freed' ? null : owner(row));
  return tables.map((table) => {
    if (table.axis !== 'req_state_idx') return plain([table], view, big, sizes, stage);
    const all = Array.from({ length: table.count }, (_, place) => table.count - 1 - place);
    const used = all.filter((row) => !free.has(row) || owner(row) !== null || (big && row === next));
    const rest = all.filter((row) => !used.includes(row));
    const isShort = big && rest.length <= FEW;
    const tail =
      big && !isShort
        ? { entries: rest, words: t('pool.rest', { n: rest.length, rows: runs([...rest].reverse(), t) }) }
        : null;
    const more = { entries: isShort ? all : used, tail, mark, owner: shownOwner, chips: big ? 12 : 6 };
    return html`${rows(table, view, big, stage, more)}${freeStack(view)}`;
  });
}

/** So many unused rows are shown without being asked for. */
const FEW = 2;

/** The free rows as the stack they are: the last one is handed out next. @param {View} view */
function freeStack(view) {
  const free = view.step.json.free_indices;
  if (free.length === 0) return html`<p class="stack">${view.t('pool.none_free')}</p>`;
  const shown = free.slice(-8);
  return html`<p class="stack"><span
    class="stack-name">${named('free_indices')}</span>${
      free.length > shown.length
        ? html`<span
    class="stack-item more">… ${free.length - shown.length}</span>`
        : nothing
    }${shown.map(
      (row, place) => html`<span
    class="stack-item ${place === shown.length - 1 ? 'top' : ''}">${row}</span>`,
    )}<span
    class="stack-note">${view.t('pool.stack')}</span></p>`;
}

/** Drawn above the tokens, where it cuts them. */
const BOUNDARY = 'query_start_loc';

/**
 * @param {TableModel[]} tables
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 * @param {string} stage
 */
function flatten(tables, view, big, sizes, stage) {
  const [tokens, ...others] = [...tables].sort(
    (a, b) => Number(b.axis === 'flat_token_idx') - Number(a.axis === 'flat_token_idx'),
  );
  const side = others.filter((table) => table.axis === 'batch_idx');
  const rest = others
    .filter((table) => table.axis !== 'batch_idx')
    .map((table) => ({ ...table, lines: table.lines.filter((line) => line.space !== BOUNDARY) }))
    .filter((table) => table.lines.length > 0);
  return html`<div class="beside">
      <div class="wide">${tokens ? strip(tokens, view, big, sizes, BOUNDARY) : nothing}</div>
      <div class="narrow">${side.map((table) => rows(table, view, big, stage, { extra: [pastNow(view)] }))}</div>
    </div>
    ${rest.length > 0 ? html`<div class="further">${plain(rest, view, big, sizes, stage)}</div>` : nothing}`;
}

/** What attention may read of a request, split into what was there and what this step adds. @param {View} view */
function pastNow(view) {
  const { step, t } = view;
  const longest = Math.max(1, ...(step.space('seq_lens')?.numbers ?? [1]));
  return {
    head: t('flatten.past_now'),
    cell: (/** @type {number} */ row) => {
      const mapped = step.space('idx_mapping')?.get([row]) ?? NaN;
      if (isNull(mapped)) return nothing;
      const past = /** @type {number} */ (step.space('num_computed_tokens')?.get([/** @type {number} */ (mapped)]));
      const now = /** @type {number} */ (step.space('num_scheduled_tokens')?.get([row]));
      return html`<span class="pastnow"><span class="bar" aria-hidden="true"><i class="past"
        .style=${`width:${(past / longest) * 100}%`}></i><i class="present"
        .style=${`width:${(now / longest) * 100}%`}></i></span><span class="v">${past}<span
        class="plus">+</span>${now}</span></span>`;
    },
  };
}

/**
 * Large: the persistent table beside the gathered one, and the two arrows that leave it: to the copy for reading, to the
 * slot mapping under it for writing. On a narrow page the copy stands above, so that both arrows keep their ends.
 * @param {TableModel[]} tables
 * @param {View} view
 * @param {boolean} big
 * @param {Map<string, number>} sizes
 * @param {string} stage
 */
function blockTables(tables, view, big, sizes, stage) {
  const gathered = tables.map((table) =>
    table.across ? plain([table], view, big, sizes, stage) : rows(table, view, big, stage, { chips: big ? 14 : 6 }),
  );
  const copies = view.step.space('input_block_tables');
  const padding =
    big && (copies?.rowLength([0]) ?? 0) > view.step.numReqs
      ? html`<p class="caption">${view.t('tables.padding')}</p>`
      : nothing;
  if (!big || view.stage === 'all') return html`${gathered}${padding}`;
  const persistent = tablesOf(view.schema, view.step, 'state-pool')
    .map((table) => ({ ...table, lines: table.lines.filter((line) => line.space === 'block_tables') }))
    .filter((table) => table.lines.length > 0);
  const mapping = view.step.space('idx_mapping');
  const entries = Array.from({ length: mapping?.length ?? 0 }, (_, row) => Number(mapping?.get([row])));
  return html`<div class="tables-frame"><div class="tables">
    <div class="persistent">
      <p class="caption">${view.t('tables.persistent')}</p>
      ${persistent.map((table) => rows(table, view, big, '', { entries, chips: 14 }))}
      <p class="arrow write"><span>${view.t('tables.write')}</span></p>
    </div>
    <p class="arrow read"><span>${view.t('tables.read')}</span></p>
    <div class="gathered"><p class="caption">${view.t('tables.gathered')}</p>${gathered}${padding}</div>
  </div></div>`;
}
