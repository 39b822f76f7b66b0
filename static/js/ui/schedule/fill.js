// @ts-check
/** A small form that fills cells: a request, or the selected block, runs its prompt in chunks and then decodes. */
import { html } from '../../../vendor/lit-html/lit-html.js';
import { readNumber } from '../../core/scenario/details.js';
import { isMany, rectangle } from '../../core/scenario/selection.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */

/** @param {View} view @param {import('../../core/scenario/selection.js').Selection} selection */
export function fillForm({ t, draft, index }, selection) {
  const { top, left, bottom, right } = rectangle(selection);
  const names = draft.requests.slice(top, bottom + 1).map(({ req_id }) => req_id);
  const who = names.join(t('list.separator'));
  const from = left < 0 ? Math.min(index, draft.steps.length) : left;
  const to = isMany(selection) && right > left ? right : undefined;
  const fill = (/** @type {Event} */ event) => {
    const form = /** @type {HTMLElement} */ (/** @type {HTMLElement} */ (event.currentTarget).closest('.fill'));
    const number = (/** @type {string} */ name) =>
      readNumber(/** @type {HTMLInputElement} */ (form.querySelector(`[name="${name}"]`)).value);
    const [chunk, decodes] = [number('chunk'), number('decodes')];
    const isAdding = /** @type {HTMLInputElement} */ (form.querySelector('[name="adding"]')).checked;
    say(form, 'edit', {
      kind: 'run',
      req_ids: names,
      from,
      to,
      isAdding: isAdding && to === undefined,
      ...(typeof chunk === 'number' && chunk > 0 ? { chunk } : {}),
      ...(typeof decodes === 'number' ? { decodes } : {}),
    });
  };
  const field = (/** @type {string} */ name, /** @type {string} */ placeholder) =>
    html`<div class="field"><label for="fill-${name}">${t(`fill.${name}`)}</label><input id="fill-${name}" name=${name}
      class="num" inputmode="numeric" autocomplete="off" placeholder=${placeholder}></div>`;
  return html`<details class="fill"><summary>${t('fill.title')}</summary>
    <p class="hint">${to === undefined ? t('fill.what', { names: who, from }) : t('fill.what_block', { names: who, from, to })}</p>
    ${field('chunk', t('fill.chunk.all'))}${field('decodes', t('fill.decodes.all'))}
    <label class="check"><input type="checkbox" name="adding" ?disabled=${to !== undefined}> ${t('fill.adding')}</label>
    <button type="button" class="btn main" data-fill @click=${fill}>${t('fill.do')}</button></details>`;
}
