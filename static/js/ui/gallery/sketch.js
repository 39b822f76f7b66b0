// @ts-check
/**
 * A schedule as a small picture: a line for each request, a bar for each step, as high as there are tokens, on a
 * logarithmic scale. What it shows is said in words beside it.
 */
import { html, svg } from '../../../vendor/lit-html/lit-html.js';
import { COLOURS } from '../../core/identity.js';

const WIDTH = 112;
const HEIGHT = 64;
/** A line and a column are no larger than this, however few there are. */
const [TALLEST, WIDEST] = [24, 24];

/** @param {number[][]} rows  tokens by request and step */
export function sketch(rows) {
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const line = Math.min(TALLEST, HEIGHT / Math.max(1, rows.length));
  const column = Math.min(WIDEST, WIDTH / columns);
  const most = Math.log2(1 + Math.max(1, ...rows.flat()));
  const gap = line > 8 ? 3 : 1;
  const height = (/** @type {number} */ count) =>
    count === 0 ? 1 : Math.max(2, ((line - gap) * Math.log2(1 + count)) / most);
  const [width, tall] = [columns * column, Math.max(1, rows.length) * line];
  return html`<svg class="sketch" viewBox="0 0 ${width} ${tall}" width=${width} height=${tall} aria-hidden="true"
    focusable="false">
    ${rows.map((row, request) =>
      row.map(
        (count, step) =>
          svg`<rect class=${count === 0 ? 'none' : `rq rq-c${request % COLOURS}`} x=${step * column}
            y=${(request + 1) * line - height(count)} width=${column - (column > 6 ? 2 : 1)}
            height=${height(count)}></rect>`,
      ),
    )}
  </svg>`;
}
