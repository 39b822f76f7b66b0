// @ts-check
/**
 * `idx_mapping` drawn: one curve from each batch row's pool row to the batch row. With many requests only the
 * lit ones are drawn. Positions are read from the two tables, so the lines follow their scrolling.
 */
import { render, svg } from '../../../vendor/lit-html/lit-html.js';
import { zoomOf } from '../zoom.js';

/** Above this many batch rows only lit rows get a line. */
const MOST = 24;

export class MappingLines extends HTMLElement {
  /** @type {import('../view.js').View | null} */
  #view = null;
  /** @type {Set<number>} batch rows that are lit */
  #lit = new Set();
  #asked = false;

  connectedCallback() {
    this.setAttribute('aria-hidden', 'true');
    new ResizeObserver(() => this.redraw()).observe(this);
  }

  /** @param {import('../view.js').View} view */
  set view(view) {
    this.#view = view;
    this.redraw();
  }

  /** @param {Set<number>} rows */
  set lit(rows) {
    this.#lit = rows;
    this.redraw();
  }

  redraw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame(() => {
      this.#asked = false;
      this.#draw();
    });
  }

  #draw() {
    const view = this.#view;
    const mapping = view?.step.space('idx_mapping');
    const board = this.closest('.board');
    const box = this.getBoundingClientRect();
    const zoom = zoomOf(this);
    if (!view || !mapping || !board || box.width < 24) {
      render('', this);
      return;
    }
    /** @type {unknown[]} */
    const paths = [];
    for (let row = 0; row < mapping.length; row += 1) {
      const isLit = this.#lit.has(row);
      if (mapping.length > MOST && !isLit) continue;
      const from = middle(
        board.querySelector(`[data-stage="state-pool"] tr[data-axis="req_state_idx"][data-index="${mapping.get([row])}"]`),
      );
      const to = middle(board.querySelector(`[data-stage="batch"] tr[data-axis="batch_idx"][data-index="${row}"]`));
      if (from === null || to === null) continue;
      const start = (from - box.top) / zoom;
      const end = (to - box.top) / zoom;
      const width = box.width / zoom;
      const third = width / 2.4;
      paths.push(svg`<path class=${isLit ? 'lit' : ''} data-batch-idx=${row}
        d=${`M0 ${start} C${third} ${start} ${width - third} ${end} ${width} ${end}`}></path>
        <circle class=${isLit ? 'lit' : ''} cx="0" cy=${start} r="2.5"></circle><path class="head ${isLit ? 'lit' : ''}"
          d=${`M${width - 6} ${end - 3.5} L${width} ${end} L${width - 6} ${end + 3.5}`}></path>`);
    }
    render(svg`<svg width=${box.width / zoom} height=${box.height / zoom}>${paths}</svg>`, this);
  }
}

/** Middle of a row that is in sight inside its table, null for one that is scrolled away. @param {Element | null} row */
function middle(row) {
  const scroller = row?.closest('.scroll');
  if (!row || !scroller) return null;
  const box = row.getBoundingClientRect();
  const frame = scroller.getBoundingClientRect();
  const y = box.top + box.height / 2;
  return y < frame.top || y > frame.bottom ? null : y;
}

customElements.define('pw-lines', MappingLines);
