// @ts-check
/**
 * One level deeper, never needed: what a cell, its request and its step are besides a count. The panel follows the cell in
 * focus; an empty field leaves the value to the page, which says in it what it took.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { isOrderedAsRows } from '../../core/scenario/arrange.js';
import { acceptedOf, countText, showBlocks, showIds } from '../../core/scenario/details.js';
import { BY_REQUEST, detailOf, pointerKeys, scheduled } from '../../core/scenario/edits.js';
import { markOf } from '../../core/scenario/entry.js';
import { DEFAULTS } from '../../core/scenario/limits.js';
import { numGiven, promptLength, walkOf } from '../../core/scenario/walk.js';
import { repairs } from './faults.js';
import { kindOf, markWord } from './cell.js';
import { fillForm } from './fill.js';
import { shows, take } from '../field.js';
import { requestTag } from '../tag.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../messages.js').Edit} Edit */
/**
 * @typedef {{name: string, label: string, value: string, placeholder?: string, hint?: unknown, edit:
 *   import('../messages.js').TextEdit, at: (string | number)[], mode?: 'numeric' | 'text'}} Field  `at`: keys of the
 *   value in the scenario, whose faults are said here
 */

/** @param {View} view @param {import('../../core/scenario/selection.js').Selection} selection */
export function scheduleDetails(view, selection) {
  const { t, draft } = view;
  const place = selection.anchor;
  const request = draft.requests[place.row];
  if (!request) return nothing;
  const step = place.column;
  return html`<section class="details" id="schedule-details" aria-label=${t('details.title')}>
    <div class="parts">
      ${step >= 0 && draft.steps[step] ? ofCell(view, request.req_id, step) : nothing}
      ${ofRequest(view, request, place.row, selection)}
      ${step >= 0 && draft.steps[step] ? ofStep(view, step) : nothing}
    </div>
    ${legend(view)}
  </section>`;
}

/** @param {View} view @param {string} req_id @param {number} step */
function ofCell(view, req_id, step) {
  const { t, draft } = view;
  const said = draft.steps[step];
  const count = scheduled(draft, step, req_id);
  const mark = markOf(draft, step, req_id);
  const legendOf = html`<legend>${requestTag(view, req_id)} ${t('step.name', { step })}</legend>`;
  const isSaid = BY_REQUEST.some((field) => detailOf(said, field, req_id) !== undefined);
  if (count === undefined && !isSaid) {
    const where = draft.requests.findIndex((one) => one.req_id === req_id);
    return html`<fieldset data-details="cell">${legendOf}<p
      class="lead">${mark ? markWord(t, mark) : t(`entry.where.${walkOf(draft).where(step, where)}`)}</p><p
      class="hint">${t('details.not_scheduled', { req_id, step })}</p></fieldset>`;
  }
  const kind = kindOf(view, req_id, step);
  const work = walkOf(draft).work(step, req_id);
  const drafts = numGiven(detailOf(said, 'draft_token_ids', req_id));
  const sampled = detailOf(said, 'sampled_token_ids', req_id);
  const hit = detailOf(said, 'num_computed_tokens', req_id);
  const most = draft.config?.num_speculative_tokens ?? 0;
  const groups = draft.config?.kv_cache_groups ?? [{ name: 'full' }];
  const given = givenBlocks(view, req_id, step);
  const blocks = detailOf(said, 'new_block_ids', req_id);
  const at = (/** @type {string} */ field) => ['steps', step, field, req_id];
  const fields = /** @type {Field[]} */ (
    [
      {
        name: 'drafts',
        label: t('details.drafts'),
        value: showIds(detailOf(said, 'draft_token_ids', req_id)),
        placeholder: t('details.none'),
        hint: t('details.drafts.what', { n: most }),
        edit: { kind: 'drafts', step, req_id },
        at: at('draft_token_ids'),
      },
      drafts > 0 && {
        name: 'accepted',
        label: t('details.accepted'),
        value: String(acceptedOf(sampled) ?? ''),
        placeholder: t('details.all', { n: drafts }),
        hint: t('details.accepted.what', { n: drafts }),
        edit: { kind: 'accepted', step, req_id },
        at: at('sampled_token_ids'),
        mode: 'numeric',
      },
      (kind !== 'prefill' || sampled !== undefined) && {
        name: 'sampled',
        label: t('details.sampled'),
        value: showIds(sampled),
        placeholder: sampledIds(view, req_id, step) || t('details.by_rule'),
        hint: t('details.sampled.what'),
        edit: { kind: 'sampled', step, req_id },
        at: at('sampled_token_ids'),
      },
      (work?.isAdmitted || hit !== undefined) && {
        name: 'hit',
        label: t('details.hit'),
        value: hit === undefined ? '' : String(hit),
        placeholder: '0',
        hint: t('details.hit.what'),
        edit: { kind: 'hit', step, req_id },
        at: at('num_computed_tokens'),
        mode: 'numeric',
      },
      ...groups.map((/** @type {any} */ group, /** @type {number} */ number) => ({
        name: `blocks-${number}`,
        label: groups.length > 1 ? ofGroup(t, group, number) : t('details.blocks'),
        value: showBlocks(blocks?.[number]),
        placeholder: given[number]?.length
          ? t('details.from_pool', { ids: showBlocks(given[number]) })
          : t(isShown(view, step) ? 'details.no_new' : 'details.pool'),
        hint: number === 0 ? t('details.blocks.what') : nothing,
        edit: { kind: 'blocks', step, req_id, group: number, num_groups: groups.length, given },
        at: [...at('new_block_ids'), number],
      })),
    ].filter(Boolean)
  );
  return html`<fieldset data-details="cell">${legendOf}
    <p class="lead">${t('count.tokens', { n: count ?? 0, value: count ?? 0 })}${kind ? html` · ${t(`kind.${kind}`)}` : nothing}</p>
    ${fields.map((one) => field(view, one, `${step} ${req_id}`))}
  </fieldset>`;
}

/** Whose blocks. @param {import('../../core/i18n.js').Translate} t @param {any} group @param {number} number */
function ofGroup(t, group, number) {
  return t('details.blocks_of', { name: group.name ?? 'full', group: number });
}

/**
 * @param {View} view
 * @param {import('../../core/scenario/edits.js').ScenarioRequest} request
 * @param {number} row
 * @param {import('../../core/scenario/selection.js').Selection} selection
 */
function ofRequest(view, request, row, selection) {
  const { t } = view;
  const { req_id, initial } = request;
  const at = (/** @type {string} */ field) => ['requests', row, field];
  const isIds = request.prompt_token_ids !== undefined;
  const fields = /** @type {Field[]} */ ([
    { name: 'name', label: t('details.name'), value: req_id, edit: { kind: 'rename', row }, at: at('req_id') },
    {
      name: 'prompt',
      label: t('details.prompt'),
      value: isIds ? showIds(request.prompt_token_ids) : String(request.prompt_len ?? ''),
      hint: isIds ? t('count.tokens', { n: promptLength(request) }) : t('details.prompt.what'),
      edit: { kind: 'prompt-text', row },
      at: at(isIds ? 'prompt_token_ids' : 'prompt_len'),
    },
  ]);
  return html`<fieldset data-details="request"><legend>${requestTag(view, req_id)} ${t('details.request')}</legend>
    ${fields.map((one) => field(view, one, req_id))}
    <details class="aid"><summary>${t('details.text')}</summary>
      <textarea rows="2" aria-label=${t('details.text')} @input=${count}></textarea>
      <p class="hint" data-counted>${t('details.text.what')}</p>
      <span class="offers" hidden>${['words', 'characters', 'bytes'].map(
        (unit) => html`<button type="button" class="btn"
        data-unit=${unit} data-words=${t(`details.text.${unit}`)}
        @click=${(/** @type {Event} */ event) => useCount(event, row)}></button>`,
      )}</span></details>
    <label class="check"><input type="checkbox" data-detail="initial" ${shows(initial !== undefined)}
      @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
        say(target, 'edit', { kind: 'initial', row, checked: target.checked })}> ${t('details.initial')}</label>
    ${initial === undefined ? nothing : initialFields(view, request, row).map((one) => field(view, one, req_id))}
    ${fillForm(view, selection)}
  </fieldset>`;
}

/**
 * What a request that is in the pool from the start comes with.
 * @param {View} view @param {import('../../core/scenario/edits.js').ScenarioRequest} request @param {number} row
 * @returns {Field[]}
 */
function initialFields({ t, draft }, request, row) {
  const { initial } = request;
  const groups = draft.config?.kv_cache_groups ?? [{ name: 'full' }];
  const at = (/** @type {(string | number)[]} */ ...keys) => ['requests', row, 'initial', ...keys];
  return [
    {
      name: 'initial-computed',
      label: t('details.computed'),
      value: number(initial.num_computed_tokens),
      placeholder: String(walkStart(request)),
      edit: { kind: 'initial-computed', row },
      at: at('num_computed_tokens'),
      mode: 'numeric',
    },
    {
      name: 'initial-outputs',
      label: t('details.outputs'),
      value: showIds(initial.output_token_ids),
      placeholder: '0',
      hint: t('details.outputs.what'),
      edit: { kind: 'initial-outputs', row },
      at: at('output_token_ids'),
    },
    {
      name: 'initial-row',
      label: t('details.row'),
      value: number(initial.req_state_idx),
      placeholder: t('details.next_row'),
      edit: { kind: 'initial-row', row },
      at: at('req_state_idx'),
      mode: 'numeric',
    },
    ...groups.map((/** @type {any} */ group, /** @type {number} */ place) => ({
      name: `initial-blocks-${place}`,
      label: groups.length > 1 ? ofGroup(t, group, place) : t('details.held'),
      value: showBlocks(initial.block_ids?.[place]),
      placeholder: t('details.pool'),
      edit: { kind: 'initial-blocks', row, group: place, num_groups: groups.length },
      at: at('block_ids', place),
    })),
  ];
}

/** @param {View} view @param {number} step */
function ofStep(view, step) {
  const { t, draft } = view;
  const pairs = draft.steps[step].num_scheduled_tokens ?? [];
  const total = pairs.reduce((sum, [, count]) => sum + (Number(count) || 0), 0);
  const marks = /** @type {[string, string][]} */ ([
    ['finished_req_ids', 'details.finished'],
    ['preempted_req_ids', 'details.preempted'],
  ]).map(([list, key]) => [t(key), draft.steps[step][list] ?? []]);
  return html`<fieldset data-details="step"><legend>${t('step.now', { step })}</legend>
    <p class="lead">${t('details.budget', { n: total, limit: draft.config?.max_num_batched_tokens ?? DEFAULTS.max_num_batched_tokens })}</p>
    ${pairs.length === 0 ? nothing : orderList(view, step)}
    ${marks.map(([label, names]) =>
      names.length > 0
        ? html`<p class="marks"><span>${label}</span>
            ${/** @type {any} */ (names).map((/** @type {string} */ req_id) => requestTag(view, req_id))}</p>`
        : nothing,
    )}
  </fieldset>`;
}

/** What the step schedules in its own order, and ways to change that. @param {View} view @param {number} step */
function orderList(view, step) {
  const { t, draft } = view;
  const pairs = draft.steps[step].num_scheduled_tokens ?? [];
  return html`<p class="hint">${t('details.order.what')}</p>
    <ol class="order-list">${pairs.map(
      ([req_id, count], place) => html`<li><span class="one">${requestTag(view, req_id)}</span><span
        class="num">${count}</span>${moveButton(view, { step, req_id, by: -1 }, place === 0)}${moveButton(
          view,
          { step, req_id, by: 1 },
          place === pairs.length - 1,
        )}</li>`,
    )}</ol>
    ${
      isOrderedAsRows(draft, step)
        ? nothing
        : html`<button type="button" class="btn" data-order-rows
            @click=${(/** @type {{currentTarget: Element}} */ { currentTarget }) =>
              say(currentTarget, 'edit', { kind: 'order-as-rows', step })}>${t('step.order_as_rows')}</button>`
    }`;
}

/** @param {View} view @param {{step: number, req_id: string, by: 1 | -1}} move @param {boolean} isOff */
function moveButton({ t }, { step, req_id, by }, isOff) {
  const words = t(by < 0 ? 'details.sooner' : 'details.later', { req_id });
  return html`<button type="button" class="btn" data-order=${by} aria-disabled=${isOff ? 'true' : nothing}
    aria-label=${words} title=${words}
    @click=${(/** @type {{currentTarget: Element}} */ { currentTarget }) =>
      !isOff && say(currentTarget, 'edit', { kind: 'order', step, req_id, by })}><span
    aria-hidden="true">${by < 0 ? '↑' : '↓'}</span></button>`;
}

/** @param {View} view @param {Field} one @param {string} of  whose value it is */
function field(view, { name, label, value, placeholder = '', hint = nothing, edit, at, mode = 'text' }, of) {
  const faults = faultsAt(view, at);
  const isWrong = faults.length > 0;
  return html`<div class="field"><label for="detail-${name}">${label}</label>
    <input id="detail-${name}" data-detail=${name} class="num" inputmode=${mode} autocomplete="off" autocapitalize="off"
      spellcheck="false" ${shows(value, `${name} ${of}`)} placeholder=${placeholder}
      title=${value || placeholder || nothing} aria-invalid=${isWrong ? 'true' : nothing} aria-describedby="hint-${name}"
      @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
        take(target, (text) => say(target, 'edit', /** @type {Edit} */ ({ ...edit, text })))}>
    <div id="hint-${name}" class="hint">${isWrong ? faults.map((fault) => wrong(view, fault)) : hint}</div></div>`;
}

/** @param {View} view @param {import('../view.js').Fault} fault */
function wrong(view, fault) {
  const repair = repairs(view, fault);
  return html`<p class="wrong">${fault.message} ${
    repair ? html`<button type="button" class="btn main" data-fix data-stay .fault=${fault}>${repair}</button>` : nothing
  }</p>`;
}

/**
 * The faults of a value.
 * @param {View} view
 * @param {(string | number)[]} at
 */
function faultsAt(view, at) {
  return view.faults.filter(({ where }) => {
    const keys = pointerKeys(where ?? '');
    return at.every((key, place) => (keys[place] === undefined ? place >= 4 : keys[place] === String(key)));
  });
}

/** Whether what the pool gave in a step is at hand. @param {View} view @param {number} step */
function isShown(view, step) {
  return !view.isStale && (step === view.index || step === view.prev?.json.index);
}

/**
 * What the pool gave a request in a step, per group, as far as it is at hand.
 * @param {View} view
 * @param {string} reqId
 * @param {number} step
 * @returns {any[][]}
 */
function givenBlocks(view, reqId, step) {
  if (!isShown(view, step)) return [];
  const { events } = (step === view.index ? view.step : (view.prev ?? view.step)).json;
  const event = events.find(
    (/** @type {any} */ one) =>
      one.req_id === reqId && one.block_ids && (one.kind === 'add_request' || one.kind === 'append_block_ids'),
  );
  return /** @type {any} */ (event)?.block_ids ?? [];
}

/** What a request sampled in the step on screen. @param {View} view @param {string} reqId @param {number} step */
function sampledIds(view, reqId, step) {
  if (!isShown(view, step) || step !== view.index) return '';
  const row = view.step.json.req_ids.indexOf(reqId);
  const ids = /** @type {any} */ (view.step.json.spaces)?.sampled_token_ids?.values?.[row];
  return Array.isArray(ids) ? ids.join(', ') : '';
}

/** @param {any} value */
function number(value) {
  return value === undefined || value === null ? '' : String(value);
}

/** What is computed if nobody says it. @param {import('../../core/scenario/edits.js').ScenarioRequest} request */
function walkStart(request) {
  const outputs = numGiven(request.initial?.output_token_ids ?? 0);
  return outputs > 0 ? promptLength(request) + outputs - 1 : 0;
}

/** @param {Event} event */
function count(event) {
  const area = /** @type {HTMLTextAreaElement} */ (event.target);
  const counted = /** @type {Record<string, number>} */ (countText(area.value));
  const offers = /** @type {HTMLElement} */ (area.parentElement?.querySelector('.offers'));
  offers.hidden = area.value === '';
  for (const button of offers.querySelectorAll('button')) {
    const n = counted[button.dataset.unit ?? ''];
    button.dataset.count = String(n);
    button.textContent = (button.dataset.words ?? '').replace('{count}', String(n));
  }
}

/** @param {Event} event @param {number} row */
function useCount(event, row) {
  const button = /** @type {HTMLElement} */ (event.currentTarget);
  say(button, 'edit', { kind: 'prompt-text', row, text: button.dataset.count ?? '' });
}

/** What the signs of the cells mean. @param {View} view */
function legend({ t }) {
  return html`<ul class="legend"
    aria-label=${t('details.legend')}>${['prefill', 'prefill_end', 'decode', 'decode_drafts'].map(
      (kind) => html`<li><span
    class="sign rq"
    data-kind=${kind}></span>${t(`kind.${kind}`)}</li>`,
    )}${['waiting', 'finished', 'preempted'].map(
      (where) => html`<li><span
    class="sign away" data-where=${where}></span>${t(`entry.where.${where}`)}</li>`,
    )}</ul>`;
}
