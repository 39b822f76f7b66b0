// @ts-check
/** The panel of the KV cache: a map of blocks for each group, what is stale, and how well the memory is used. */
import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { groupDigits } from '../core/i18n.js';
import { cellKey } from '../core/trace.js';
import { requestTag } from './tag.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('../core/layout.js').TableModel} TableModel */
/** @typedef {(tables: TableModel[], view: View, big: boolean, sizes: Map<string, number>, stage: string) => unknown} Panel */

/** Stale blocks that are named one by one. */
const MOST_STALE = 24;

/** @param {Panel} plain how tables without a form of their own are shown @returns {Panel} */
export function kvCache(plain) {
  return (tables, view, big, sizes, stage) => {
    const { constants, t } = view;
    const blockSizes = /** @type {number[]} */ (constants.block_size ?? []);
    const many = blockSizes.length > 1;
    const maps = blockSizes.map((size, group) => {
      const words = t('kv.caption', { size, bytes: constants.bytes_per_slot, layout: constants.kv_layout });
      const caption = many || big ? html`<p class="caption">${many ? html`<b>${constants.group_names?.[group] ?? group}</b> ` : nothing}${words}${many && !sameSize(blockSizes) ? html` <span class="label">${t('exactness.illustrative')}</span>` : nothing}</p>` : nothing;
      return html`${caption}<pw-kv .data=${{ view, big, group }}></pw-kv>`;
    });
    const others = tables.filter((table) => table.axis !== 'stale_block_idx');
    return html`${maps}${stale(view)}
      <p class="legend"><i class="slot f"></i>${t('kv.legend.readable')}<i class="slot f idle"></i>${t('kv.legend.valid')}<i class="slot f w"></i>${t('kv.legend.written')}<i class="slot e"></i>${t('kv.legend.empty')}</p>
      ${big ? html`${usage(view)}<div class="further">${plain(others, view, big, sizes, stage)}</div>` : nothing}`;
  };
}

/** @param {number[]} sizes */
function sameSize(sizes) {
  return sizes.every((size) => size === sizes[0]);
}

/** Blocks that nobody holds, with the K and V of their last owner still in them. @param {View} view */
function stale(view) {
  const ids = view.step.space('stale_block_ids');
  const owners = view.step.space('stale_block_req_ids');
  if (!ids || ids.size === 0) return nothing;
  const shown = Array.from({ length: Math.min(ids.size, MOST_STALE) }, (_, place) => place);
  return html`<p class="stale-blocks" data-stale-blocks>${view.t('kv.stale')} ${shown.map((place) => html`<span class="chip c" tabindex="-1" data-cell=${cellKey('stale_block_ids', [place])} data-state="stale"><span class="v">${ids.get([place])}</span></span>${requestTag(view, String(owners?.get([place])))}`)}${ids.size > shown.length ? view.t('inspector.more', { n: ids.size - shown.length }) : nothing}</p>`;
}

/** Use and waste in numbers, next to what reserving `max_model_len` for every request would take. @param {View} view */
function usage(view) {
  const use = view.step.json.kv_cache;
  if (!use) return nothing;
  const { t } = view;
  return html`<div class="usage" data-usage>
    <p>${t('kv.use.blocks', { used: use.num_used_blocks, all: use.num_blocks, free: use.num_free_blocks, stale: use.num_stale_blocks })}</p>
    ${use.groups.map((/** @type {Record<string, any>} */ group) => {
      const part = (/** @type {number} */ slots) => `width:${(slots / Math.max(1, group.num_reserved_slots, group.num_slots)) * 100}%`;
      return html`<p>${use.groups.length > 1 ? html`<b>${group.name}</b> ` : nothing}${t('kv.use.slots', { filled: group.num_filled_slots, slots: group.num_slots, waste: group.num_waste_slots, bytes: group.bytes_per_layer })}
        ${t('kv.use.reserved', { reserved: group.num_reserved_slots, bytes: groupDigits(group.reserved_bytes_per_layer) })}
        <span class="meter" aria-hidden="true"><span .style=${part(group.num_filled_slots)}></span><span class="waste" .style=${part(group.num_waste_slots)}></span></span></p>`;
    })}
  </div>`;
}
