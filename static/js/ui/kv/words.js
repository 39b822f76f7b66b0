// @ts-check
/** What a slot or a block is, in one sentence: for the line under the map, for screen readers, for the inspector. */
import { explain } from '../../core/trace/explain.js';
import { isNull } from '../../core/trace/trace.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/kv/pool.js').Pool} Pool */
/** @typedef {Map<number, number>} Written  slot -> flat token that wrote it in this step */

/** @param {View} view @param {number} group @returns {Written} */
export function writtenSlots({ step }, group) {
  /** @type {Written} */
  const written = new Map();
  const slots = step.space('slot_mappings');
  const count = Math.min(step.numTokens, slots?.rowLength([group]) ?? 0);
  for (let token = 0; token < count; token += 1) {
    const slot = Number(slots?.get([group, token]));
    if (slot >= 0) written.set(slot, token);
  }
  return written;
}

/**
 * What a slot of a held block is. The first `filled` slots hold tokens, in order of their positions.
 * @param {Pool} pool @param {Written} written @param {number} entry @param {number} slot
 */
export function slotKind(pool, written, entry, slot) {
  const offset = slot - pool.id(entry) * pool.blockSize;
  const { filled, readable } = pool.slots(entry);
  if (written.has(slot)) return offset < filled ? 'written' : 'rejected';
  if (offset >= filled) return 'empty';
  if (pool.isLoaded(entry, offset)) return 'loaded';
  return offset < readable ? 'readable' : 'valid';
}

/** @param {View} view @param {Pool} pool @param {Written} written @param {number} entry @param {number} slot */
export function slotWords(view, pool, written, entry, slot) {
  const { t, constants, step } = view;
  const block = pool.id(entry);
  const offset = slot - block * pool.blockSize;
  const kind = slotKind(pool, written, entry, slot);
  const token = written.get(slot);
  const alone = (constants.dcp_size ?? 1) === 1;
  const position =
    token !== undefined
      ? Number(step.space('positions')?.get([token]))
      : alone
        ? pool.value('kv_block_indices', entry) * pool.blockSize + offset
        : NaN;
  const what = t(`kv.slot.${kind}`, { slot: String(slot) });
  const where = t(isNull(position) ? 'kv.slot.where' : 'kv.slot.where_position', {
    block: String(block),
    offset: String(offset),
    position: String(position),
    req: pool.owner(entry) ?? '?',
  });
  return t('kv.slot.words', { what, where });
}

/** @param {View} view @param {Pool} pool @param {number} id */
export function blockWords(view, pool, id) {
  const { t, constants, step } = view;
  const block = String(id);
  const kind = pool.kind(id);
  if (kind === 'held') {
    const owners = pool.owners(id);
    const req = owners.map((entry) => pool.owner(entry) ?? '?').join(', ');
    return t(owners.length > 1 ? 'kv.block.shared' : 'kv.block.held', {
      block,
      req,
      size: pool.blockSize,
      ...pool.slots(owners[0]),
    });
  }
  if (kind === 'other')
    return t('kv.block.other', { block, group: constants.group_names?.[pool.others.get(id) ?? 0] ?? '?' });
  if (kind === 'stale')
    return t('kv.block.stale', { block, req: step.space('stale_block_req_ids')?.get([pool.stale.get(id) ?? 0]) ?? '?' });
  return t(`kv.block.${kind}`, { block });
}

/** A run of blocks drawn as one. @param {View} view @param {Pool} pool @param {number} first @param {number} last */
export function rangeWords({ t }, pool, first, last) {
  return t('kv.range', {
    first: String(first),
    last: String(last),
    held: pool.heldWithin(first, last),
    ...pool.between(first, last),
  });
}

/**
 * The gap between two held blocks, short.
 * @param {View} view
 * @param {Pool} pool
 * @param {number} first
 * @param {number} last
 * @returns {string[]}
 */
export function gapWords({ t }, pool, first, last) {
  const { free, stale, other } = pool.between(first, last);
  return [
    free > 0 ? t('kv.gap.free', { n: free }) : '',
    stale > 0 ? t('kv.gap.stale', { n: stale }) : '',
    other > 0 ? t('kv.gap.other', { n: other }) : '',
  ].filter(Boolean);
}

/**
 * What the pinned cell is on this map, '' if it is not on it.
 * @param {View} view
 * @param {Pool} pool
 * @param {Written} written
 */
export function pinWords(view, pool, written) {
  const { pin } = view;
  if (!pin) return '';
  if (pin.space === 'kv_block_ids' && pool.held.has(pool.id(pin.at[0])) && pool.entries.includes(pin.at[0]))
    return blockWords(view, pool, pool.id(pin.at[0]));
  if (pin.space === 'stale_block_ids')
    return blockWords(view, pool, Number(view.step.space('stale_block_ids')?.get(pin.at)));
  const token = tokenOf(view);
  if (token === null) return '';
  const slot = Number(view.step.space('slot_mappings')?.get([pool.group, token]));
  const entry = slot >= 0 ? entryOf(pool, slot, view, token) : undefined;
  return entry === undefined ? '' : slotWords(view, pool, written, entry, slot);
}

/**
 * The block of the pinned cell, null if it is not on this map.
 * @param {View} view
 * @param {Pool} pool
 * @returns {number | null}
 */
export function pinBlock(view, pool) {
  const { pin, step } = view;
  if (!pin) return null;
  if (pin.space.startsWith('kv_block_')) return pool.id(pin.at[0]);
  if (pin.space === 'stale_block_ids') return Number(step.space('stale_block_ids')?.get(pin.at));
  const token = tokenOf(view);
  const slot = token === null ? NaN : Number(step.space('slot_mappings')?.get([pool.group, token]));
  return slot >= 0 ? Math.floor(slot / pool.blockSize) : null;
}

/**
 * What becomes of a slot that was written for a draft that did not hold, '' for every other cell.
 * @param {View} view
 * @param {string} space
 * @param {number[]} at
 */
export function fateWords({ step, t }, space, at) {
  if (space !== 'slot_mappings' || !(Number(step.space(space)?.get(at)) >= 0)) return '';
  const position = Number(step.space('positions')?.get([at[1]]));
  const computed = Number(
    step.space('num_computed_tokens_after')?.get([Number(step.space('token_batch_idx')?.get([at[1]]))]),
  );
  return position >= computed ? t('kv.fate.rejected') : '';
}

/**
 * The holder of a slot: of a shared block the one whose token it is.
 * @param {Pool} pool
 * @param {number} slot
 * @param {View} view
 * @param {number} token
 */
function entryOf(pool, slot, view, token) {
  const row = view.step.space('idx_mapping')?.get([Number(view.step.space('token_batch_idx')?.get([token]))]);
  const owners = pool.owners(Math.floor(slot / pool.blockSize));
  return owners.find((entry) => pool.value('kv_block_rows', entry) === row) ?? owners[0];
}

/** The flat token of the pinned cell, null if it has none. @param {View} view @returns {number | null} */
export function tokenOf(view) {
  const { pin, links } = view;
  const token = pin ? explain(links, pin.space, pin.at, { group: view.group })?.params.flat_token_idx : undefined;
  return typeof token === 'number' && !isNull(token) ? token : null;
}
