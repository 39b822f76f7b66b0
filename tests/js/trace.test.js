// @ts-check
/** Traces in flat arrays: ragged rows, cells by their coordinates, what a step changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Space, cellKey, isGrouped, isNull, parseCellKey } from '../../static/js/core/trace/trace.js';

const ragged = new Space('block_tables', {
  dims: ['group', 'req_state_idx', 'block_index'],
  dtype: 'int32',
  values: [
    [[], [81, 44], [], [37]],
    [[5], [], [], [null, 9]],
  ],
});

test('a ragged space finds its cells and gives their coordinates back', () => {
  assert.equal(ragged.size, 6);
  assert.equal(ragged.length, 2);
  assert.equal(ragged.get([0, 1, 1]), 44);
  assert.equal(ragged.get([1, 3, 1]), 9);
  assert.ok(isNull(ragged.get([1, 3, 0])));
  for (let cell = 0; cell < ragged.size; cell += 1) assert.equal(ragged.find(ragged.at(cell)), cell);
});

test('what is not there is unknown, never a neighbour', () => {
  for (const at of [
    [0, 1, 2],
    [0, 0, 0],
    [0, 4, 0],
    [2, 0, 0],
    [-1, 0, 0],
    [NaN, 1, 0],
    [0, NaN, 0],
  ]) {
    assert.equal(ragged.find(at), -1);
    assert.ok(isNull(ragged.get(at)));
  }
});

test('row lengths at every depth', () => {
  assert.equal(ragged.rowLength([]), 2);
  assert.equal(ragged.rowLength([1]), 4);
  assert.equal(ragged.rowLength([0, 1]), 2);
  assert.equal(ragged.rowLength([0, 9]), 0);
});

test('ids beyond 2^31 stay exact, booleans are numbers, words are words', () => {
  const bytes = new Space('slot_byte_offsets', {
    dims: ['group', 'flat_token_idx'],
    dtype: 'int64',
    values: [[2 ** 45 + 1]],
  });
  assert.equal(bytes.get([0, 0]), 2 ** 45 + 1);
  assert.equal(new Space('is_local', { dims: ['flat_token_idx'], dtype: 'bool', values: [true, false] }).get([0]), 1);
  const words = new Space('row_req_ids', { dims: ['req_state_idx'], dtype: 'str', values: [null, 'A'] });
  assert.equal(words.get([1]), 'A');
  assert.ok(isNull(words.get([0])));
});

test('an empty space has no cells', () => {
  const empty = new Space('input_block_tables', {
    dims: ['group', 'batch_idx_padded', 'block_index'],
    dtype: 'int32',
    values: [[]],
  });
  assert.equal(empty.size, 0);
  assert.equal(empty.rowLength([0]), 0);
  assert.equal(empty.find([0, 0, 0]), -1);
  assert.equal(new Space('idx_mapping', { dims: ['batch_idx'], dtype: 'int64', values: [7, 6] }).find([1, 0]), -1); // it has one index, not two
});

test('a group says whose the entries are, unless groups are what is counted', () => {
  assert.deepEqual([['group', 'batch_idx'], ['group'], ['batch_idx']].map(isGrouped), [true, false, false]);
});

test('cell keys are read back, nonsense is not', () => {
  assert.deepEqual(parseCellKey(cellKey('slot_mappings', [0, 12])), { space: 'slot_mappings', at: [0, 12] });
  for (const bad of [
    '',
    'slot_mappings',
    'slot_mappings.',
    'slot_mappings.-1',
    'slot_mappings.1.',
    'Slot.1',
    '<b>.1',
    'a.999999999',
    `a${'.0'.repeat(9)}`,
    `${'a'.repeat(65)}.0`,
  ])
    assert.equal(parseCellKey(bad), null, bad);
});
