// @ts-check
/** One value on the board: what it reads, how it looks when it is not plain data, what it was a step ago. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { before } from '../../core/trace/changes.js';
import { cellState } from '../../core/trace/explain.js';
import { groupDigits } from '../../core/i18n.js';
import { elide } from '../../core/viewport.js';
import { cellAt } from '../../core/trace/layout.js';
import { cellKey, isNull } from '../../core/trace/trace.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/layout.js').Line} Line */

/**
 * @param {View} view
 * @param {string} dtype
 * @param {import('../../core/trace/trace.js').Value} value
 * @param {string} space
 * @param {string} [state]
 */
export function valueText(view, dtype, value, space, state = '') {
  if (isNull(value)) return NOTHING.has(state) ? '–' : '?';
  if (dtype === 'bool') return value ? 'true' : 'false';
  if (typeof value === 'string') return wordOf(view, value, space);
  // Counts, lengths and bytes get separators; ids and indices are names, printed as they are.
  return view.schema.isCount(space) ? groupDigits(value) : String(value);
}

/**
 * A word in the reader's language where it has one there; the name of a request is none.
 * @param {View} view
 * @param {string} value
 * @param {string} space
 */
function wordOf({ schema, t }, value, space) {
  const key = `value.${space}.${value}`;
  const word = schema.def(space)?.holds === null ? t(key) : key;
  return word === key ? value : word;
}

/** States in which a missing value is known to be none. */
const NOTHING = new Set(['none', 'not_local', 'missing', 'unused']);

/**
 * State of a cell in words, '' for plain data.
 * @param {View} view
 * @param {string} state
 */
export function stateWords(view, state) {
  return state ? view.t(`state.${state}`) : '';
}

/**
 * The inside of a cell: value, what it was before, and its state for a screen reader.
 * @param {View} view
 * @param {string} space
 * @param {string} dtype
 * @param {number[]} at
 */
function inside(view, space, dtype, at) {
  const value = view.step.space(space)?.get(at) ?? NaN;
  const state = cellState(view.links, space, at, value);
  const old = state === 'unused' ? undefined : before(view.schema, view.step, view.prev, space, at);
  const text = valueText(view, dtype, value, space, state);
  const was =
    old === undefined || isNull(old)
      ? nothing
      : html`<s class="was"><span class="vh">${view.t('cell.was')}</span>${valueText(view, dtype, old, space)}<span
        class="vh">, </span></s>`;
  const words = stateWords(view, state);
  return {
    state,
    changed: old !== undefined,
    content: html`${was}<span class="v">${text}</span>${words ? html`<span class="vh">, ${words}</span>` : nothing}`,
    words,
  };
}

/**
 * A table cell that holds one value.
 * @param {View} view
 * @param {Line} line
 * @param {number} entry
 * @param {string} extra class names
 */
export function valueCell(view, line, entry, extra = '') {
  const at = cellAt(line, entry);
  const space = view.step.space(line.space);
  if (!space || space.find(at) < 0) return html`<td class="none ${extra}"></td>`;
  const { state, changed, content, words } = inside(view, line.space, line.dtype, at);
  return html`<td class="c ${extra}" tabindex="-1" data-cell=${cellKey(line.space, at)} data-dtype=${line.dtype}
    data-state=${state || nothing} data-changed=${changed ? '' : nothing} title=${words || nothing}>${content}</td>`;
}

/** A padded row of a block table: the trace keeps no columns for it, all of them are 0. @param {View} view */
function zeroed(view) {
  return html`<td class="list"><div class="chips"><span class="chip" data-state="padding"
    title=${view.t('tables.padding')}><span class="v">∅ 0 …</span><span
    class="vh">, ${stateWords(view, 'padding')}</span></span></div></td>`;
}

/**
 * A table cell that holds a list, its entries as chips; a long list shows its ends and says what it leaves out.
 * @param {View} view
 * @param {Line} line
 * @param {number} entry
 * @param {{most: number, open: boolean, must: number[]}} how
 */
export function listCell(view, line, entry, how) {
  const space = view.step.space(line.space);
  const row = cellAt(line, entry);
  const count = space ? space.rowLength(row) : 0;
  if (count === 0 && space?.dims[1] === 'batch_idx_padded' && entry >= view.step.numReqs) return zeroed(view);
  if (count === 0) return html`<td class="list"></td>`;
  const parts = elide(count, how.open ? 4096 : how.most, how.must);
  return html`<td class="list"><div class="chips">${parts.map((part) => {
    if ('from' in part) {
      return html`<button type="button" class="chip gap" data-open="${line.space}.${entry}"
        title=${view.t('cell.show_all', { n: count })}>${part.from}…${part.to}</button>`;
    }
    const at = [...row, part.index];
    const { state, changed, content, words } = inside(view, line.space, line.dtype, at);
    return html`<span class="chip c" tabindex="-1" data-cell=${cellKey(line.space, at)} data-state=${state || nothing}
      data-changed=${changed ? '' : nothing} title=${words || nothing}>${content}</span>`;
  })}</div></td>`;
}
