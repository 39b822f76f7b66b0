// @ts-check
/**
 * One line that says how the pinned cell was computed, with its numbers: `slot_mappings[0][0] = 12 * 16 + 15 = 207`. Its
 * result can be kept back until the room has answered.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { explain } from '../../core/trace/explain.js';
import { formulaText } from '../../core/trace/formula.js';
import { valueText } from './cell.js';
import { formula, noteOf } from './inspector.js';
import { accentOf, named } from '../names.js';

/**
 * @param {import('../view.js').View} view
 * @param {{concealed?: boolean, end?: unknown}} [how]  `end`: what stands at the end of the line
 */
export function formulaBar(view, { concealed = false, end = nothing } = {}) {
  const cell = view.pin && explain(view.links, view.pin.space, view.pin.at, { group: view.group });
  if (!cell) return nothing;
  const value = concealed ? '?' : valueText(view, cell.def.dtype, cell.value, cell.space, cell.state);
  const name = html`<span
    class="cell-name ${accentOf(cell.def.holds)}">${named(cell.space)}${cell.at.map((index) => `[${index}]`)}</span>`;
  const note = noteOf(view, cell);
  return html`<section class="formula-bar" aria-label=${view.t('formula.label')} data-formula-bar>
    <div class="line">${name}<span class="op"> = </span>${
      cell.formula.length > 0
        ? formula(view, cell, concealed)
        : html`<b
      class="equals" data-result>${value}</b>${
        note && !concealed
          ? html` <span
      class="note">${note}</span>`
          : nothing
      }`
    }</div>
    ${end}
  </section>`;
}

/** The same line for the ear, '' where nothing is pinned. @param {import('../view.js').View} view */
export function pinSentence(view) {
  const cell = view.pin && explain(view.links, view.pin.space, view.pin.at, { group: view.group });
  if (!cell) return '';
  const value = valueText(view, cell.def.dtype, cell.value, cell.space, cell.state);
  const how = formulaText(cell.formula);
  const name = `${cell.space}${cell.at.map((index) => `[${index}]`).join('')}`;
  return view.t('announce.pin', { cell: name, formula: how && how !== value ? `${how} = ${value}` : value });
}
