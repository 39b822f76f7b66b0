// @ts-check
/**
 * The pool of physical blocks as one group sees it: what each block id is, what lies between two ids, and where
 * byte 2^31 falls. Held and stale blocks are looked up, the rest is arithmetic: a pool may have 2^24 blocks.
 */
import { isNull } from '../trace/trace.js';

/** @typedef {'null' | 'held' | 'other' | 'stale' | 'free'} Kind  `other`: held in another group */
/** @typedef {{count: number, free: number, stale: number, other: number}} Tally */

export class Pool {
  /**
   * @param {import('../trace/trace.js').Step} step
   * @param {Record<string, any>} constants
   * @param {number} group
   */
  constructor(step, constants, group) {
    this.step = step;
    this.group = group;
    /** @type {number} */
    this.blockSize = constants.block_size?.[group] ?? 16;
    const ids = step.space('kv_block_ids');
    const groups = step.space('kv_block_groups');
    const stale = step.space('stale_block_ids');
    /** @type {number[]} this group's places on the kv_block_idx axis, by rising block id */
    this.entries = [];
    /** @type {Map<number, number>} block id -> its first place */
    this.held = new Map();
    /** @type {Map<number, number[]>} id of a block that several hold -> all its places */
    this.shared = new Map();
    /** @type {Map<number, number>} block id -> the other group that holds it */
    this.others = new Map();
    /** @type {Map<number, number>} block id -> place on the stale_block_idx axis */
    this.stale = new Map();
    let highest = 0;
    for (let entry = 0; entry < (ids?.size ?? 0); entry += 1) {
      const id = Number(ids?.get([entry]));
      const of = Number(groups?.get([entry]) ?? 0);
      highest = Math.max(highest, id);
      if (groups && of !== group) this.others.set(id, of);
      else {
        this.entries.push(entry);
        const first = this.held.get(id);
        if (first === undefined) this.held.set(id, entry);
        else this.shared.set(id, [...(this.shared.get(id) ?? [first]), entry]);
      }
    }
    for (let place = 0; place < (stale?.size ?? 0); place += 1) this.stale.set(Number(stale?.get([place])), place);
    /** @type {number} */
    this.numBlocks = constants.num_blocks_in_pool ?? highest + 1;
    this.sorted = { held: sorted(this.held), other: sorted(this.others), stale: sorted(this.stale) };
  }

  /** @param {number} id @returns {Kind} */
  kind(id) {
    if (id === 0) return 'null';
    if (this.held.has(id)) return 'held';
    if (this.others.has(id)) return 'other';
    return this.stale.has(id) ? 'stale' : 'free';
  }

  /** Places of everyone who holds a block: more than one where it is shared. @param {number} id */
  owners(id) {
    const first = this.held.get(id);
    return first === undefined ? [] : (this.shared.get(id) ?? [first]);
  }

  /** @param {number} entry place on the kv_block_idx axis */
  id(entry) {
    return this.value('kv_block_ids', entry);
  }

  /** @param {string} space @param {number} entry @returns {number} */
  value(space, entry) {
    return Number(this.step.space(space)?.get([entry]) ?? NaN);
  }

  /**
   * Slots of a block that hold a token, that were written in this step, that attention may read: of a shared block as far
   * as the holder says that is furthest.
   * @param {number} entry place on the kv_block_idx axis
   */
  slots(entry) {
    const holders = this.shared.get(this.id(entry)) ?? [entry];
    const most = (/** @type {string} */ space) => Math.max(...holders.map((one) => this.value(space, one)));
    const filled = most('kv_block_num_filled');
    const read = most('kv_block_num_readable');
    return { filled, written: most('kv_block_num_written'), readable: isNull(read) ? filled : read };
  }

  /** Whether no request of the scenario computed what a filled slot holds. @param {number} entry @param {number} offset */
  isLoaded(entry, offset) {
    return offset < this.value('kv_block_computed_begin', entry) || offset >= this.value('kv_block_computed_end', entry);
  }

  /** @param {number} entry @returns {string | null} */
  owner(entry) {
    const row = this.value('kv_block_rows', entry);
    const found = isNull(row) ? null : this.step.space('row_req_ids')?.get([row]);
    return typeof found === 'string' ? found : null;
  }

  /**
   * What the ids from `first` to `last` are, without block 0 and the group's own.
   * @param {number} first
   * @param {number} last
   * @returns {Tally}
   */
  between(first, last) {
    const count = Math.max(0, last - first + 1);
    const other = within(this.sorted.other, first, last);
    const stale = within(this.sorted.stale, first, last);
    const held = within(this.sorted.held, first, last);
    const none = first <= 0 && last >= 0 ? 1 : 0;
    return { count, other, stale, free: Math.max(0, count - other - stale - held - none) };
  }

  /** Slots of this group's that lie in a range of ids. @param {number} first @param {number} last */
  heldWithin(first, last) {
    return within(this.sorted.held, first, last);
  }
}

/** @param {Map<number, number>} map */
function sorted(map) {
  return Float64Array.from(map.keys()).sort();
}

/**
 * How many of the sorted values lie in first..last.
 * @param {Float64Array} values
 * @param {number} first
 * @param {number} last
 */
function within(values, first, last) {
  return Math.max(0, lowerBound(values, last + 1) - lowerBound(values, first));
}

/** @param {ArrayLike<number>} values @param {number} wanted @returns {number} the first place whose value is not below */
export function lowerBound(values, wanted) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The block in which byte 2^31 of a layer lies, null if the layer is smaller.
 * @param {number} numBlocks @param {number} blockBytes
 */
export function blockAt31(numBlocks, blockBytes) {
  return numBlocks * blockBytes > 2 ** 31 ? Math.floor(2 ** 31 / blockBytes) : null;
}
