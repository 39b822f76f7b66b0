// @ts-check
/** The pool of blocks as a group sees it, and where blocks are drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gridOf, lineOf, linesOf } from '../../static/js/core/kv/layout.js';
import { blockAt31, Pool } from '../../static/js/core/kv/pool.js';
import { Step } from '../../static/js/core/trace/trace.js';

const list = (/** @type {any[]} */ values, dtype = 'int32') => ({ dims: ['kv_block_idx'], dtype, values });

/** Blocks 12, 37 (shared), 44 in group 0; 20 in group 1; 13 and 40 stale. @param {number} group */
function pool(group, numBlocks = 128) {
  const spaces = {
    kv_block_ids: list([12, 20, 37, 37, 44]),
    kv_block_groups: list([0, 1, 0, 0, 0]),
    kv_block_rows: list([7, 7, 7, 6, 6]),
    kv_block_num_filled: list([16, 8, 16, 12, 8]),
    kv_block_num_written: list([1, 0, 0, 2, 8]),
    kv_block_computed_begin: list([0, 0, 0, 0, 2]),
    kv_block_computed_end: list([16, 8, 16, 16, 4]),
    stale_block_ids: list([13, 40]),
    stale_block_req_ids: list(['X', 'X'], 'str'),
    row_req_ids: list([null, null, null, null, null, null, 'A', 'B'], 'str'),
  };
  const json = /** @type {any} */ ({ index: 0, num_reqs: 2, num_tokens: 9, spaces });
  return new Pool(new Step(json), { block_size: [16, 8], num_blocks_in_pool: numBlocks }, group);
}

test('every block id is of one kind', () => {
  const kinds = [0, 1, 12, 13, 20, 37].map((id) => pool(0).kind(id));
  assert.deepEqual(kinds, ['null', 'free', 'held', 'stale', 'other', 'held']);
  assert.equal(pool(1).kind(12), 'other');
});

test('a shared block has all its owners', () =>
  assert.deepEqual(
    pool(0)
      .owners(37)
      .map((entry) => pool(0).owner(entry)),
    ['B', 'A'],
  ));

test('a shared block is as full as the holder says that is furthest', () => {
  assert.deepEqual(pool(0).slots(2), { filled: 16, written: 2, readable: 16 });
  assert.deepEqual(pool(0).slots(3), { filled: 16, written: 2, readable: 16 });
});

test('slots outside of what was computed were loaded', () => {
  const offsets = [0, 1, 2, 3, 4].map((offset) => pool(0).isLoaded(4, offset));
  assert.deepEqual(offsets, [true, true, false, false, true]); // 2 and 3 were computed
  const { spaces } = pool(0).step.json;
  delete spaces.kv_block_computed_begin;
  assert.equal(new Pool(new Step(/** @type {any} */ ({ ...pool(0).step.json, spaces })), {}, 0).isLoaded(4, 0), false);
});

test('what lies between two blocks is counted, however many', () => {
  assert.deepEqual(pool(0).between(13, 36), { count: 24, other: 1, stale: 1, free: 22 });
  // 2^24 ids less 0, three held, one of the other group, two stale
  assert.equal(pool(0, 2 ** 24).between(0, 2 ** 24 - 1).free, 2 ** 24 - 1 - 3 - 1 - 2);
});

test('the list names blocks and gaps in id order', () => {
  const lines = linesOf(pool(0), { width: 10_000, block: 240, gap: 64, space: 12 });
  const names = lines[0].map((item) =>
    item.kind === 'block' ? item.id : item.kind === 'gap' ? `${item.first}-${item.last}` : 'null',
  );
  assert.deepEqual(names, ['null', '1-11', 12, '13-36', 37, '38-43', 44, '45-127']); // 37 is shared: drawn once
});

test('a line is found by a block id or by the gap that it is in', () => {
  const lines = linesOf(pool(0), { width: 330, block: 240, gap: 64, space: 12 });
  assert.deepEqual(
    lines.map((line) => line.length),
    [2, 2, 2, 2],
  );
  assert.equal(lineOf(lines, 30), 1);
  assert.equal(lineOf(lines, 44), 3);
});

test('the pool fits its room: a square for each block, or for a power of two of them', () => {
  assert.deepEqual(gridOf({ count: 128, width: 1000, most: 176 }), { size: 22, columns: 32, rows: 4, per: 1 });
  const large = gridOf({ count: 2 ** 24, width: 1000, most: 176 });
  assert.ok(large.rows * large.size <= 176 && large.per > 1 && Number.isInteger(Math.log2(large.per)));
  assert.ok(large.rows * large.columns * large.per >= 2 ** 24);
});

test('byte 2^31', () => {
  assert.equal(blockAt31(128, 65_536), null);
  assert.equal(blockAt31(32_768, 65_536), null); // exactly 2^31 bytes: the last is 2^31 - 1
  assert.equal(blockAt31(32_769, 65_536), 32_768);
});
