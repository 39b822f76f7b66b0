// @ts-check
/**
 * The second level of stepping: inside a stage element by element, one request or one token at a time.
 *
 * In: a step, a stage. Out: how many elements there are, and which cell stands for each.
 */

/** @typedef {import('./trace.js').Step} Step */
/**
 * @typedef {{axis: string, count: number, cell: (place: number) => {space: string, at: number[]}, place: (coordinates:
 *   Record<string, any>) => number}} Elements
 */

/** Stage -> the space whose cells stand for its elements, and the index they are counted by. */
const BY = /** @type {Record<string, {space: string, axis: string}>} */ ({
  schedule: { space: 'schedule_num_tokens', axis: 'schedule_idx' },
  'state-pool': { space: 'num_computed_tokens', axis: 'req_state_idx' },
  batch: { space: 'idx_mapping', axis: 'batch_idx' },
  flatten: { space: 'positions', axis: 'flat_token_idx' },
  'block-tables': { space: 'input_block_tables', axis: 'batch_idx' },
  'slot-mapping': { space: 'slot_mappings', axis: 'flat_token_idx' },
  'kv-cache': { space: 'slot_byte_offsets', axis: 'flat_token_idx' },
  update: { space: 'num_computed_tokens_after', axis: 'batch_idx' },
});

/**
 * @param {Step} step
 * @param {string} stage
 * @param {number} group
 * @returns {Elements | null} null where there is nothing to step through
 */
export function elementsOf(step, stage, group) {
  const by = BY[stage];
  const space = by ? step.space(by.space) : null;
  if (!by || !space || step.empty) return null;
  const { axis } = by;
  const rows = axis === 'req_state_idx' ? [...step.rows.values()] : null;
  const count = rows ? rows.length : axis === 'flat_token_idx' ? step.numTokens : step.numReqs;
  const index = (/** @type {number} */ place) => (rows ? rows[place] : place);
  return {
    axis,
    count,
    cell: (place) => {
      const at = space.dims[0] === 'group' ? [group, index(place)] : [index(place)];
      // A list stands for itself by its first entry.
      return { space: by.space, at: at.length < space.dims.length ? [...at, 0] : at };
    },
    place: (coordinates) => {
      const found = coordinates[axis];
      if (typeof found !== 'number') return -1;
      return rows ? rows.indexOf(found) : found < count ? found : -1;
    },
  };
}
