// @ts-check
/**
 * Which tables a stage shows: spaces with the same axis become the lines of one table.
 *
 * In: the schema, a step, a stage. Out: table models. A space that this file has never heard of still gets its
 * line, at the end of the table of its axis; `ORDER` only says what comes first and what a small view keeps.
 */
import { axisOf } from './trace.js';

/**
 * @typedef {object} Line one row of a strip, one column of a table
 * @property {string} space
 * @property {number | null} group  fixed first index, null for a space without groups
 * @property {boolean} list  each entry holds a list (a block table's ids)
 * @property {string} dtype
 * @property {string | null} holds
 * @property {string} tail  the dimension of the list, '' if there is none
 */
/**
 * @typedef {object} TableModel
 * @property {string} axis
 * @property {string} dim  the longest dimension drawn along the axis
 * @property {number} count
 * @property {boolean} across  entries are columns (tokens), not rows (requests)
 * @property {Line[]} lines
 */

const ACROSS = new Set(['flat_token_idx', 'logit_idx', 'logits_boundary']);

/** Order inside a stage; `key` lines are the ones that stay when the stage is not the current one. */
export const ORDER = /** @type {Record<string, {order: string[], key: string[]}>} */ ({
  schedule: {
    order: ['schedule_num_tokens', 'schedule_num_drafts'],
    key: ['schedule_num_tokens'],
  },
  'state-pool': {
    order: [
      'row_status',
      'prompt_len',
      'prefill_len',
      'total_len',
      'num_computed_tokens',
      'last_sampled_tokens',
      'draft_tokens',
      'num_blocks',
      'block_tables',
    ],
    key: ['num_computed_tokens', 'block_tables'],
  },
  batch: {
    order: ['idx_mapping', 'num_scheduled_tokens', 'num_draft_tokens', 'is_prefilling', 'sort_key', 'schedule_idx'],
    key: ['idx_mapping', 'num_scheduled_tokens', 'is_prefilling'],
  },
  flatten: {
    order: [
      'token_batch_idx',
      'token_source',
      'input_ids',
      'positions',
      'seq_lens',
      'dcp_local_seq_lens',
      'cu_num_logits',
      'logits_indices',
      'expanded_idx_mapping',
      'expanded_local_pos',
    ],
    key: ['input_ids', 'positions', 'seq_lens'],
  },
  'block-tables': { order: ['input_block_tables'], key: ['input_block_tables'] },
  'slot-mapping': {
    order: ['is_local', 'block_indices', 'block_offsets', 'block_numbers', 'slot_mappings'],
    key: ['is_local', 'block_indices', 'block_offsets', 'block_numbers', 'slot_mappings'],
  },
  'kv-cache': { order: ['slot_byte_offsets'], key: [] },
  update: {
    order: ['sampled_token_ids', 'num_sampled', 'num_rejected', 'num_computed_tokens_after', 'total_len_after'],
    key: ['sampled_token_ids', 'num_computed_tokens_after'],
  },
});

/** Axis -> the space shown as the tag in front of every entry, not as a line of its own. */
export const TAGS = /** @type {Record<string, string>} */ ({
  req_state_idx: 'row_req_ids',
  schedule_idx: 'schedule_req_ids',
});

/**
 * @param {import('./schema.js').Schema} schema
 * @param {import('./trace.js').Step} step
 * @param {string} stage
 * @returns {TableModel[]}
 */
export function tablesOf(schema, step, stage) {
  const { order } = ORDER[stage] ?? { order: [] };
  const rank = (/** @type {string} */ name) => {
    const place = order.indexOf(name);
    return place < 0 ? order.length : place;
  };
  const names = schema.ofStage(stage).filter((name) => step.space(name) && !Object.values(TAGS).includes(name));
  names.sort((a, b) => rank(a) - rank(b));
  /** @type {Map<string, TableModel>} */
  const tables = new Map();
  for (const name of names) {
    const space = /** @type {import('./trace.js').Space} */ (step.space(name));
    const grouped = space.dims[0] === 'group' && space.dims.length > 1;
    const [dim, tail = ''] = grouped ? space.dims.slice(1) : space.dims;
    const axis = axisOf(dim);
    let table = tables.get(axis);
    if (!table) {
      table = { axis, dim, count: 0, across: ACROSS.has(axis), lines: [] };
      tables.set(axis, table);
    }
    const groups = grouped ? Array.from({ length: space.length }, (_, group) => group) : [null];
    for (const group of groups) {
      const count = group === null ? space.length : space.rowLength([group]);
      if (count > table.count) Object.assign(table, { count, dim });
      table.lines.push({
        space: name,
        group,
        list: tail !== '',
        tail,
        dtype: space.dtype,
        holds: schema.def(name)?.holds ?? null,
      });
    }
  }
  for (const table of tables.values()) table.lines = byGroup(table.lines);
  return [...tables.values()];
}

/** Lines without a group first, then all of group 0, all of group 1, ... @param {Line[]} lines */
function byGroup(lines) {
  return [...lines].sort((a, b) => (a.group ?? -1) - (b.group ?? -1));
}

/** @param {string} stage @param {string} space */
export function isKey(stage, space) {
  return ORDER[stage]?.key.includes(space) ?? false;
}

/**
 * Coordinates of an entry of a line, ready for `Space.get`.
 * @param {Line} line
 * @param {number} entry
 * @param {number} [item] place in the list
 */
export function cellAt(line, entry, item) {
  const at = line.group === null ? [entry] : [line.group, entry];
  if (item !== undefined) at.push(item);
  return at;
}
