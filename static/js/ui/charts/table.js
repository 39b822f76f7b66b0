// @ts-check
/** The numbers of a chart as a table: drawn when it is opened, so many rows at a time. */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { groupDigits } from '../../core/i18n.js';
import { say } from '../view.js';

/** @typedef {{columns: string[], rows: (number | string | null)[][]}} Table */
/**
 * @typedef {{table: Table, stepColumn: number, step: number, caption: string, t: import('../../core/i18n.js').Translate}}
 *   TableData
 */

const AT_ONCE = 100;

export class ChartTable extends HTMLElement {
  /** @type {TableData | null} */
  #data = null;
  #isOpen = false;
  #most = AT_ONCE;

  /** @param {TableData} data */
  set data(data) {
    this.#data = data;
    this.#draw();
  }

  #draw() {
    const { t, table } = /** @type {TableData} */ (this.#data);
    render(
      html`<details
        @toggle=${(/** @type {Event} */ event) => this.#toggled(/** @type {HTMLDetailsElement} */ (event.target).open)}>
        <summary>${t('chart.table')}</summary>
        ${this.#isOpen ? this.#table() : nothing}
        ${
          this.#isOpen && table.rows.length > this.#most
            ? html`<button type="button" class="btn main"
          @click=${() => this.#more()}>${t('chart.table.more', { n: Math.min(AT_ONCE, table.rows.length - this.#most) })}</button>`
            : nothing
        }
      </details>`,
      this,
    );
  }

  /** @param {boolean} isOpen */
  #toggled(isOpen) {
    this.#isOpen = isOpen;
    this.#most = AT_ONCE;
    this.#draw();
  }

  #more() {
    this.#most += AT_ONCE;
    this.#draw();
  }

  #table() {
    const { table, caption, step, stepColumn } = /** @type {TableData} */ (this.#data);
    const rows = table.rows.slice(0, this.#most);
    const align = table.columns.map((_, column) =>
      column > 0 && rows.some((row) => typeof row[column] === 'string') ? 'words' : nothing,
    );
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption class="vh">${caption}</caption>
        <thead><tr>${table.columns.map(
          (name, column) => html`<th scope="col"
          class=${align[column]}>${name}</th>`,
        )}</tr></thead>
        <tbody>${rows.map(
          (row) => html`<tr
          aria-current=${stepColumn === 0 && row[0] === step ? 'step' : nothing}>${row.map((value, column) => this.#cell(value, align[column], column, stepColumn))}</tr>`,
        )}</tbody>
      </table>
    </div>`;
  }

  /** @param {number | string | null} value @param {unknown} align @param {number} column @param {number} stepColumn */
  #cell(value, align, column, stepColumn) {
    const text = typeof value === 'number' ? groupDigits(value) : (value ?? '');
    const shown =
      column === stepColumn
        ? html`<button type="button" class="v" data-go-step=${value}
          @click=${() => say(this, 'go', { step: Number(value) })}>${text}</button>`
        : typeof value === 'number'
          ? html`<span class="v">${text}</span>`
          : text;
    return column === 0 ? html`<th scope="row">${shown}</th>` : html`<td class=${align}>${shown}</td>`;
  }
}

customElements.define('pw-chart-table', ChartTable);
