// @ts-check
/**
 * The cells of one step that a number can stand for, a function for each index space.
 *
 * `RUNNING` looks at what the step works on, `HELD` at what only lies there: slots filled earlier, stale blocks, the
 * null block, numbers beyond the pool. Both answer hits in the order of the tensor.
 */
import { isNull } from '../trace/trace.js';

/** @typedef {import('../trace/trace.js').Step} Step */
/** @typedef {import('./find.js').Hit} Hit */
/** @typedef {import('./query.js').Kind} Kind */
/**
 * @typedef {object} Ask
 * @property {number} number
 * @property {Set<string> | null} requests  only what belongs to one of these
 * @property {boolean} isBare  nothing but the number was given
 * @property {Record<string, any>} constants
 */
/** @typedef {(step: Step, ask: Ask) => Hit[]} Look */

/** No question is answered with more of one kind. */
const MOST = 12;

/** @type {Partial<Record<Kind, Look>>} */
export const RUNNING = {
  slot: slotWritten,
  block: blockHeld,
  token_id: tokenId,
  position: positionNow,
  pool_row: poolRow,
  flat_token: flatToken,
  batch_row: batchRow,
  logical_block: logicalBlock,
  byte: byteOffset,
};

/** @type {Partial<Record<Kind, Look>>} */
export const HELD = { slot: slotHeld, block: blockLeft, position: positionHeld };

/**
 * @param {Kind} kind @param {Step} step @param {number} number @param {string} says @param {Record<string, unknown>} params
 * @param {{space: string, at: number[]} | null} cell @param {string | null} [request] @param {number} [group]
 * @returns {Hit}
 */
function hit(kind, step, number, says, params, cell, request = null, group = 0) {
  const texts = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return {
    kind,
    number: String(number),
    says,
    params: { ...texts, req_id: request ?? '' },
    cell,
    step: step.index,
    request,
    group,
  };
}

/** @param {string | null} request @param {Ask} ask */
function wanted(request, { requests }) {
  return requests === null || (request !== null && requests.has(request));
}

/** @param {Step} step @param {number} token */
function ownerOf(step, token) {
  const row = step.space('token_batch_idx')?.get([token]);
  return typeof row === 'number' ? (step.json.req_ids[row] ?? null) : null;
}

/** @param {Step} step @param {number} row pool row */
function ownerOfRow(step, row) {
  const name = step.space('row_req_ids')?.get([row]);
  return typeof name === 'string' ? name : null;
}

/**
 * Places along the last axis at which a space holds a number.
 * @param {Step} step
 * @param {string} name
 * @param {number} number
 * @param {(at: number[]) => boolean} good
 */
function places(step, name, number, good = () => true) {
  const space = step.space(name);
  /** @type {number[][]} */
  const found = [];
  if (!space?.numbers) return found;
  for (
    let cell = space.numbers.indexOf(number);
    cell >= 0 && found.length < MOST;
    cell = space.numbers.indexOf(number, cell + 1)
  ) {
    const at = space.at(cell);
    if (good(at)) found.push(at);
  }
  return found;
}

/** @type {Look} */
function slotWritten(step, ask) {
  const { number } = ask;
  if (number === -1) {
    const [first] = places(step, 'slot_mappings', -1);
    return first && ask.requests === null
      ? [hit('slot', step, number, 'slot_nowhere', {}, { space: 'slot_mappings', at: first }, null, first[0])]
      : [];
  }
  return places(
    step,
    'slot_mappings',
    number,
    ([, token]) => token < step.numTokens && wanted(ownerOf(step, token), ask),
  ).map((at) => {
    const token = at[1];
    const params = {
      token,
      position: step.space('positions')?.get([token]),
      block: step.space('block_numbers')?.get(at),
      offset: step.space('block_offsets')?.get(at),
    };
    return hit('slot', step, number, 'slot_written', params, { space: 'slot_mappings', at }, ownerOf(step, token), at[0]);
  });
}

/** Held blocks by id, as entries of the list. @param {Step} step @param {number} id @param {number | null} group */
function entries(step, id, group) {
  return places(
    step,
    'kv_block_ids',
    id,
    ([entry]) => group === null || step.space('kv_block_groups')?.get([entry]) === group,
  ).map(([entry]) => entry);
}

/** Slots that this step does not write: filled earlier, reserved, left behind, in nobody's block. @type {Look} */
function slotHeld(step, ask) {
  const { number, constants } = ask;
  const sizes = /** @type {number[]} */ (constants.block_size ?? []);
  if (number < 0 || places(step, 'slot_mappings', number).length > 0) return [];
  /** @type {Hit[]} */
  const hits = [];
  sizes.forEach((size, group) => {
    const params = { block: Math.floor(number / size), offset: number % size };
    const cell = (/** @type {string} */ space, /** @type {number} */ at) => ({ space, at: [at] });
    for (const entry of entries(step, params.block, group)) {
      const owner = ownerOfRow(step, Number(step.space('kv_block_rows')?.get([entry])));
      const isFilled = params.offset < Number(step.space('kv_block_num_filled')?.get([entry]));
      if (wanted(owner, ask))
        hits.push(
          hit(
            'slot',
            step,
            number,
            isFilled ? 'slot_filled' : 'slot_reserved',
            params,
            cell('kv_block_ids', entry),
            owner,
            group,
          ),
        );
    }
  });
  if (hits.length > 0 || ask.requests !== null) return hits;
  const last = Math.max(0, ...sizes.map((size) => size * constants.num_blocks_in_pool)) - 1;
  const block = Math.floor(number / (sizes[0] ?? 1));
  for (const [left] of sizes.length === 1 ? places(step, 'stale_block_ids', block) : []) {
    const owner = step.space('stale_block_req_ids')?.get([left]);
    return [
      hit(
        'slot',
        step,
        number,
        'slot_stale',
        { block },
        { space: 'stale_block_ids', at: [left] },
        typeof owner === 'string' ? owner : null,
      ),
    ];
  }
  if (ask.isBare) return [];
  if (number > last) return [hit('slot', step, number, 'slot_beyond', { last }, null)];
  return [hit('slot', step, number, block === 0 ? 'slot_null' : 'slot_free', { block }, null)];
}

/** @type {Look} */
function blockHeld(step, ask) {
  const { number } = ask;
  return entries(step, number, null).flatMap((entry) => {
    const of = (/** @type {string} */ name) => Number(step.space(name)?.get([entry]));
    const [group, row, index] = [of('kv_block_groups'), of('kv_block_rows'), of('kv_block_indices')];
    const owner = ownerOfRow(step, row);
    const params = { index, filled: of('kv_block_num_filled'), size: ask.constants.block_size?.[group] };
    return wanted(owner, ask)
      ? [hit('block', step, number, 'block_held', params, { space: 'block_tables', at: [group, row, index] }, owner, group)]
      : [];
  });
}

/** Blocks that nobody holds. @type {Look} */
function blockLeft(step, ask) {
  const { number, constants } = ask;
  if (ask.requests !== null || number < 0 || entries(step, number, null).length > 0) return [];
  for (const [left] of places(step, 'stale_block_ids', number)) {
    const owner = step.space('stale_block_req_ids')?.get([left]);
    return [
      hit(
        'block',
        step,
        number,
        'block_stale',
        {},
        { space: 'stale_block_ids', at: [left] },
        typeof owner === 'string' ? owner : null,
      ),
    ];
  }
  if (ask.isBare) return [];
  const last = constants.num_blocks_in_pool - 1;
  if (number > last) return [hit('block', step, number, 'block_beyond', { last }, null)];
  return [
    number === 0
      ? { ...hit('block', step, number, 'block_null', {}, null), term: 'null-block' }
      : hit('block', step, number, 'block_free', {}, null),
  ];
}

/** @type {Look} */
function logicalBlock(step, ask) {
  const tables = step.space('block_tables');
  if (!tables || ask.number < 0 || (ask.isBare && ask.requests === null)) return [];
  /** @type {Hit[]} */
  const hits = [];
  for (const [name, row] of step.rows) {
    if (!wanted(name, ask)) continue;
    for (let group = 0; group < tables.length && hits.length < MOST; group += 1) {
      const at = [group, row, ask.number];
      if (ask.number >= Number(step.space('num_blocks')?.get([group, row]) ?? 0)) continue;
      hits.push(
        hit(
          'logical_block',
          step,
          ask.number,
          'logical_block',
          { block: known(tables.get(at)) },
          { space: 'block_tables', at },
          name,
          group,
        ),
      );
    }
  }
  return hits;
}

/** @param {import('../trace/trace.js').Value | undefined} value */
function known(value) {
  return isNull(value) ? '?' : value;
}

/** @type {Look} */
function tokenId(step, ask) {
  const { number } = ask;
  const inputs = places(step, 'input_ids', number, ([token]) => wanted(ownerOf(step, token), ask)).map(([token]) =>
    hit(
      'token_id',
      step,
      number,
      'id_input',
      { token, position: step.space('positions')?.get([token]) },
      { space: 'input_ids', at: [token] },
      ownerOf(step, token),
    ),
  );
  const batchOwner = (/** @type {number} */ row) => step.json.req_ids[row] ?? null;
  const samples = places(step, 'sampled_token_ids', number, ([row]) => wanted(batchOwner(row), ask)).map((at) =>
    hit('token_id', step, number, 'id_sampled', {}, { space: 'sampled_token_ids', at }, batchOwner(at[0])),
  );
  return [...inputs, ...samples];
}

/** @type {Look} */
function positionNow(step, ask) {
  return places(step, 'positions', ask.number, ([token]) => wanted(ownerOf(step, token), ask)).map(([token]) =>
    hit(
      'position',
      step,
      ask.number,
      'position_now',
      { token, slot: known(step.space('slot_mappings')?.get([0, token])) },
      { space: 'positions', at: [token] },
      ownerOf(step, token),
    ),
  );
}

/** Positions computed before this step: their place in the block table. @type {Look} */
function positionHeld(step, ask) {
  const { number, constants } = ask;
  const tables = step.space('block_tables');
  if (!tables || number < 0) return [];
  const size = constants.block_size?.[0] * (constants.dcp_size ?? 1);
  /** @type {Hit[]} */
  const hits = [];
  for (const [name, row] of step.rows) {
    const at = [0, row, Math.floor(number / size)];
    const isComputed = number < Number(step.space('num_computed_tokens')?.get([row]) ?? 0);
    if (!isComputed || !wanted(name, ask) || tables.find(at) < 0) continue;
    hits.push(
      hit(
        'position',
        step,
        number,
        'position_held',
        { index: at[2], block: known(tables.get(at)) },
        { space: 'block_tables', at },
        name,
      ),
    );
    if (hits.length === MOST) break;
  }
  return hits;
}

/** @type {Look} */
function poolRow(step, ask) {
  const { number } = ask;
  const status = step.space('row_status')?.get([number]);
  if (typeof status !== 'string') return [];
  const owner = ownerOfRow(step, number);
  const isLive = status === 'live' || status === 'added';
  if (!wanted(owner, ask) || (ask.isBare && owner === null)) return [];
  return [
    hit(
      'pool_row',
      step,
      number,
      isLive ? 'row_live' : owner === null ? 'row_unused' : 'row_freed',
      {},
      { space: 'row_req_ids', at: [number] },
      owner,
    ),
  ];
}

/** @type {Look} */
function batchRow(step, ask) {
  const { number } = ask;
  const owner = step.json.req_ids[number] ?? null;
  if (owner === null) {
    const isPadding = number >= step.numReqs && number < (step.json.num_reqs_padded ?? 0);
    return isPadding && ask.requests === null && !ask.isBare
      ? [hit('batch_row', step, number, 'row_padding', {}, { space: 'seq_lens', at: [number] })]
      : [];
  }
  if (!wanted(owner, ask)) return [];
  return [
    hit(
      'batch_row',
      step,
      number,
      'batch_row',
      { row: step.space('idx_mapping')?.get([number]) },
      { space: 'idx_mapping', at: [number] },
      owner,
    ),
  ];
}

/** @type {Look} */
function flatToken(step, ask) {
  const { number } = ask;
  if (number >= step.numTokens) {
    const isPadding = number < (step.json.num_tokens_padded ?? 0);
    return isPadding && ask.requests === null && !ask.isBare
      ? [hit('flat_token', step, number, 'token_padding', {}, { space: 'slot_mappings', at: [0, number] })]
      : [];
  }
  const owner = number < 0 ? null : ownerOf(step, number);
  if (owner === null || !wanted(owner, ask)) return [];
  return [
    hit(
      'flat_token',
      step,
      number,
      'flat_token',
      { position: step.space('positions')?.get([number]) },
      { space: 'positions', at: [number] },
      owner,
    ),
  ];
}

/** The slot that begins at a byte or, where a slot is one piece, contains it. @type {Look} */
function byteOffset(step, ask) {
  const space = step.space('slot_byte_offsets');
  if (!space?.numbers || ask.number < 0) return [];
  const { kv_layout: layout, bytes_per_slot: bytes } = ask.constants;
  const reach = layout === 'NHD' && !ask.isBare && typeof bytes === 'number' ? bytes : 1;
  /** @type {Hit[]} */
  const hits = [];
  for (let cell = 0; cell < space.size && hits.length < MOST; cell += 1) {
    const start = space.numbers[cell];
    if (!(start <= ask.number && ask.number < start + reach)) continue;
    const at = space.at(cell);
    const owner = ownerOf(step, at[1]);
    if (wanted(owner, ask))
      hits.push(
        hit(
          'byte',
          step,
          ask.number,
          'byte',
          { slot: step.space('slot_mappings')?.get(at), token: at[1] },
          { space: 'slot_byte_offsets', at },
          owner,
          at[0],
        ),
      );
  }
  return hits;
}
