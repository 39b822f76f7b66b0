// @ts-check
/** The panel of the KV cache: for each group the pool and its blocks, what is stale, and how well the memory is used. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { blockAt31, Pool } from '../../core/kv/pool.js';
import { cellKey } from '../../core/trace/trace.js';
import './pool.js';
import { slotBytes, usage } from './usage.js';
import { writtenSlots } from './words.js';
import { requestTag } from '../tag.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/layout.js').TableModel} TableModel */

/**
 * @typedef {(tables: TableModel[], view: View, big: boolean, sizes: Map<string, number>, stage: string) => unknown} Panel
 */

/** Stale blocks that are named one by one. */
const MOST_STALE = 24;

/** @param {Panel} plain how tables without a form of their own are shown @returns {Panel} */
export function kvCache(plain) {
  return (tables, view, big, sizes, stage) => {
    const blockSizes = /** @type {number[]} */ (view.constants.block_size ?? []);
    const drawn = ['stale_block_ids', 'stale_block_req_ids'];
    const others = tables
      .map((table) => ({ ...table, lines: table.lines.filter((line) => !drawn.includes(line.space)) }))
      .filter((table) => table.lines.length > 0);
    return html`${blockSizes.map((_, group) => groupMap(view, group, big))}${stale(view)}${legend(view, big)}
      ${big ? html`${usage(view)}<div class="further lists">${plain(others, view, big, sizes, stage)}</div>` : nothing}`;
  };
}

/** @param {View} view @param {number} group @param {boolean} big */
function groupMap(view, group, big) {
  const { constants, t } = view;
  const blockSizes = /** @type {number[]} */ (constants.block_size ?? []);
  const many = blockSizes.length > 1;
  const pool = new Pool(view.step, constants, group);
  const written = writtenSlots(view, group);
  const words = t('kv.caption', { size: pool.blockSize, bytes: constants.bytes_per_slot, layout: constants.kv_layout });
  const isSame = blockSizes.every((size) => size === blockSizes[0]);
  const name = many ? html`<b>${constants.group_names?.[group] ?? group}</b> ` : nothing;
  const label = many && !isSame ? html` <span class="label">${t('exactness.illustrative')}</span>` : nothing;
  return html`<div class="kv-group" data-kv-group=${group} @pw-kv-zoom=${onZoom} @pw-kv-sight=${onSight}
    @pw-kv-words=${onWords}>
    ${many || big ? html`<p class="caption">${name}${words}${label}</p>` : nothing}
    ${
      big
        ? html`<pw-pool .data=${{ view, pool }}></pw-pool><p class="readout" data-readout
      data-hint=${t('kv.readout')}></p>`
        : nothing
    }
    <pw-kv .data=${{ view, big, pool, written }}></pw-kv>
    ${big ? slotBytes(view, pool, written) : nothing}
  </div>`;
}

/** @typedef {import('../messages.js').KvMessages} KvMessages */
/**
 * @template {keyof KvMessages} Kind
 * @typedef {{currentTarget: HTMLElement, detail: KvMessages[Kind]}} GroupEvent
 */

/** A block was chosen on the map of the pool: the list goes there. @param {GroupEvent<'kv-zoom'>} event */
function onZoom({ currentTarget, detail }) {
  /** @type {any} */ (currentTarget.querySelector('pw-kv'))?.zoom(detail.id);
}

/** The list has moved: the map marks what it shows. @param {GroupEvent<'kv-sight'>} event */
function onSight({ currentTarget, detail }) {
  const map = /** @type {any} */ (currentTarget.querySelector('pw-pool'));
  if (map) map.sight = detail;
}

/** One line says what is pointed at, else what has the focus or is pinned. @param {GroupEvent<'kv-words'>} event */
function onWords({ currentTarget, detail }) {
  const line = currentTarget.querySelector('.readout');
  if (!line) return;
  const resting = (/** @type {string} */ name) => /** @type {any} */ (currentTarget.querySelector(name))?.resting;
  line.textContent =
    detail.words || resting('pw-pool') || resting('pw-kv') || /** @type {HTMLElement} */ (line).dataset.hint;
}

/** @param {View} view @param {boolean} big */
function legend({ t, constants, step }, big) {
  const kinds = [
    ['f', 'readable'],
    ['f idle', 'valid'],
    ['f w', 'written'],
    ...(constants.num_speculative_tokens > 0 ? [['w x', 'rejected']] : []),
    ...(step.space('kv_block_num_loaded') ? [['f l', 'loaded']] : []),
    ['e', 'empty'],
  ];
  const isBeyond31 = (constants.block_size ?? []).some(
    (/** @type {number} */ size) => blockAt31(constants.num_blocks_in_pool, size * constants.bytes_per_slot) !== null,
  );
  const blocks = big
    ? [
        ['null', 'null'],
        ['free', 'free'],
        ...(step.space('stale_block_ids')?.size ? [['stale', 'stale']] : []),
        ...((constants.block_size ?? []).length > 1 ? [['other', 'other']] : []),
        ...(isBeyond31 ? [['31', 'byte31']] : []),
      ]
    : [];
  const item = (/** @type {string} */ look, /** @type {string} */ name) =>
    html`<span data-legend=${name}><i class="slot ${look}"></i>${t(`kv.legend.${name}`)}</span>`;
  const slots = kinds.map(([look, name]) => item(look, name));
  if (!big) return html`<p class="legend">${slots}</p>`;
  return html`<p class="legend"><b>${t('kv.legend.slots')}</b>${slots}</p>
    <p class="legend"><b>${t('kv.legend.blocks')}</b>${blocks.map(([look, name]) => item(`block-${look}`, name))}</p>`;
}

/** Blocks that nobody holds, with the K and V of their last owner still in them. @param {View} view */
function stale(view) {
  const ids = view.step.space('stale_block_ids');
  const owners = view.step.space('stale_block_req_ids');
  if (!ids || ids.size === 0) return nothing;
  const shown = Array.from({ length: Math.min(ids.size, MOST_STALE) }, (_, place) => place);
  return html`<p class="stale-blocks" data-stale-blocks>${view.t('kv.stale')} ${shown.map(
    (place) => html`<span
    class="chip c" tabindex="-1" data-cell=${cellKey('stale_block_ids', [place])} data-state="stale"><span
    class="v">${ids.get([place])}</span></span>${requestTag(view, String(owners?.get([place])))}`,
  )}${ids.size > shown.length ? view.t('inspector.more', { n: ids.size - shown.length }) : nothing}</p>`;
}
