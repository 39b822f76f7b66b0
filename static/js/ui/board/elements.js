// @ts-check
/** Stepping inside the current stage: back, on, and a slider over all its elements. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { elementsOf } from '../../core/trace/elements.js';
import { explain } from '../../core/trace/explain.js';
import { dimName } from '../names.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/elements.js').Elements} Elements */

/** @param {View} view @param {string} stage */
export function elementSteps(view, stage) {
  if (view.stage !== stage) return nothing;
  const elements = elementsOf(view.schema, view.step, stage, view.group);
  if (!elements || elements.count === 0) return nothing;
  const { t } = view;
  const cell = view.pin && explain(view.links, view.pin.space, view.pin.at, { group: view.group });
  const place = cell ? elements.place(cell.params) : -1;
  const last = elements.count - 1;
  const step = (/** @type {Event} */ { currentTarget }, /** @type {1 | -1} */ by) =>
    currentTarget && say(currentTarget, 'element', { by });
  const name = place < 0 ? countName(view, elements) : dimName(view, elements.axis, elements.index(place));
  return html`<span class="elements" role="group" aria-label=${t('elements.label')}>
    <button type="button" class="btn" data-element-back aria-label=${t('elements.back')} title=${t('elements.back')}
      aria-disabled=${place <= 0 ? 'true' : nothing}
      @click=${(/** @type {Event} */ event) => step(event, -1)}>‹</button>
    ${
      last > 0
        ? html`<input type="range" data-element ?data-rest=${place < 0} min=${place < 0 ? -1 : 0} max=${last}
      .value=${String(place)} aria-label=${t('elements.label')} aria-valuetext=${name}
      @input=${(/** @type {{target: HTMLInputElement}} */ { target }) => {
        const to = Number(target.value);
        if (to >= 0) say(target, 'pin', { ...elements.cell(to), step: view.index });
      }}>`
        : nothing
    }
    <span class="of" data-element-place>${name}</span>
    <button type="button" class="btn" data-element-next aria-label=${t('elements.next')} title=${t('elements.next')}
      aria-disabled=${place >= last ? 'true' : nothing}
      @click=${(/** @type {Event} */ event) => step(event, 1)}>›</button>
  </span>`;
}

/** How many there are, in words where the catalogue has them. @param {View} view @param {Elements} elements */
function countName({ t }, { axis, count }) {
  const key = `elements.${axis}`;
  const words = t(key, { n: count });
  return words === key ? t('elements.others', { n: count, axis }) : words;
}

/**
 * The cell of the element before or after the one that is pinned, in the stage at hand.
 * @param {import('../view.js').View} view  as it is now: two presses are two elements, however late either is drawn
 * @param {1 | -1} by
 */
export function besideElement(view, by) {
  const elements = elementsOf(view.schema, view.step, view.stage, view.group);
  const cell = view.pin && explain(view.links, view.pin.space, view.pin.at, { group: view.group });
  const to = (cell && elements ? elements.place(cell.params) : -1) + by;
  return elements && to >= 0 && to < elements.count ? { ...elements.cell(to), step: view.index } : null;
}
