// @ts-check
/** How well the memory is used, a row for each group, and where a slot lies in bytes in either layout. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { blockAt31 } from '../../core/kv/pool.js';
import { groupDigits } from '../../core/i18n.js';
import { cellKey, isNull } from '../../core/trace/trace.js';
import { tokenOf } from './words.js';

/** @typedef {import('../view.js').View} View */

/** Use and waste in numbers, next to what reserving `max_model_len` for every request would take. @param {View} view */
export function usage(view) {
  const use = view.step.json.kv_cache;
  if (!use) return nothing;
  const { t } = view;
  const bytes = (/** @type {number} */ slots) => groupDigits(slots * use.bytes_per_slot);
  const cell = (/** @type {number} */ slots, /** @type {string} */ name) =>
    html`<td class="num" data-slots=${name}>${groupDigits(slots)}<span
      class="bytes-of">${t('kv.use.bytes', { bytes: bytes(slots) })}</span></td>`;
  const { num_used_blocks: used, num_blocks: all, num_free_blocks: free, num_stale_blocks: stale } = use;
  const row = (/** @type {Record<string, any>} */ group) =>
    html`<tr data-usage-group=${group.name}>
      <th scope="row">${group.name}</th>
      <td class="num">${groupDigits(group.num_blocks)}</td>
      ${cell(group.num_slots, 'held')}${cell(group.num_filled_slots, 'filled')}
      ${cell(group.num_waste_slots, 'waste')}${cell(group.num_reserved_slots, 'reserved')}
      <td class="meter-cell">${meter(group)}</td>
    </tr>`;
  return html`<div class="usage" data-usage>
    <p>${t('kv.use.pool', { used, all, free, stale })}</p>
    <div class="scroll" role="region" tabindex="0" aria-label=${t('kv.use.label')}><table>
      <thead><tr><th scope="col">${t('kv.use.group')}</th><th scope="col">${t('kv.use.blocks')}</th><th
        scope="col">${t('kv.use.held')}</th><th scope="col"><i class="swatch filled"></i>${t('kv.use.filled')}</th><th
        scope="col"><i class="swatch waste"></i>${t('kv.use.waste')}</th><th scope="col"><i
        class="swatch reserved"></i>${t('kv.use.reserved')}</th><td></td></tr></thead>
      <tbody>${use.groups.map(row)}</tbody>
    </table></div>
  </div>`;
}

/** The slots of a group as parts of what reserving would take. @param {Record<string, any>} group */
function meter(group) {
  const part = (/** @type {number} */ slots) =>
    `width:${(slots / Math.max(1, group.num_reserved_slots, group.num_slots)) * 100}%`;
  return html`<span class="meter" aria-hidden="true"><span .style=${part(group.num_filled_slots)}></span><span class="waste"
    .style=${part(group.num_waste_slots)}></span></span>`;
}

/**
 * The byte at which the slot of a token begins: the pinned token's, else the first that has a slot.
 * @param {View} view @param {import('../../core/kv/pool.js').Pool} pool @param {Map<number, number>} written
 */
export function slotBytes(view, pool, written) {
  const { t, step, constants } = view;
  const { group, blockSize } = pool;
  const slotOf = (/** @type {number | null | undefined} */ token) =>
    token === null || token === undefined ? NaN : Number(step.space('slot_mappings')?.get([group, token]));
  const pinned = tokenOf(view);
  const token = slotOf(pinned) >= 0 ? pinned : [...written.values()][0];
  const slot = slotOf(token);
  const layout = (/** @type {string} */ name, /** @type {string} */ words) => {
    const space = step.space(`byte_offsets_${name.toLowerCase()}`);
    const at = [group, Number(token)];
    const value = space?.get(at);
    if (!space || isNull(value)) return nothing;
    const isUsed = constants.kv_layout === name;
    return html`<li><b>${name}</b> <span class="c" tabindex="0" data-cell=${cellKey(space.name, at)}><span
      class="v">${groupDigits(Number(value))}</span></span> <span
      class="soft">${words}${isUsed ? t('kv.bytes.in_use') : ''}</span></li>`;
  };
  const place = { block: String(Math.floor(slot / blockSize)), offset: String(slot % blockSize) };
  const layouts = () => [
    layout('NHD', t('kv.bytes.nhd', { bytes: constants.bytes_per_head })),
    layout('HND', t('kv.bytes.hnd', { bytes: blockSize * constants.bytes_per_head })),
  ];
  return html`<div class="kv-bytes" data-kv-bytes>
    ${
      slot >= 0
        ? html`<p>${t('kv.bytes.slot', { slot: String(slot), ...place })}</p>
        <ul>${layouts()}</ul>`
        : nothing
    }
    <p data-mark31>${mark31(view, pool)}</p>
  </div>`;
}

/**
 * Where byte offsets outgrow 32 bits, which slot ids usually do not.
 * @param {View} view
 * @param {import('../../core/kv/pool.js').Pool} pool
 */
function mark31({ t, constants }, { numBlocks, blockSize }) {
  const blockBytes = blockSize * constants.bytes_per_slot;
  const block = blockAt31(numBlocks, blockBytes);
  const top = numBlocks * blockSize - 1;
  const key = block === null ? 'kv.bytes.below' : top < 2 ** 31 ? 'kv.bytes.mark' : 'kv.bytes.mark_both';
  return t(key, { block: String(block), bytes: numBlocks * blockBytes, top: groupDigits(top) });
}
