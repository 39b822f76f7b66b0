// @ts-check
/** The find box without its box: what a question is about, and in which order it is answered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQuery } from '../../static/js/core/find/query.js';
import { find } from '../../static/js/core/find/find.js';
import { identities } from '../../static/js/core/identity.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { Step, cellKey } from '../../static/js/core/trace/trace.js';
import { constants, schema, steps } from './fixtures/worked.js';

const all = steps.map((/** @type {any} */ step) => new Step(step));
const requests = [{ req_id: 'B' }, { req_id: 'A' }, { req_id: 'chat-1' }];

/** @param {number} index @param {any} [more] */
function scope(index, more = {}) {
  return {
    step: all[index],
    others: all,
    constants,
    schema: new Schema(schema),
    requests,
    identities: identities(requests),
    scheduled: (/** @type {number} */ step) => all[step]?.json.req_ids ?? [],
    numSteps: 3,
    ...more,
  };
}

/** "slot 207 slot_written slot_mappings.0.0" @param {string} text @param {number} [index] */
const found = (text, index = 1) =>
  find(text, scope(index)).hits.map(
    ({ kind, number, says, cell, step }) =>
      `${kind} ${number} ${says}${cell ? ` ${cellKey(cell.space, cell.at)}` : ''}${step === index ? '' : ` in ${step}`}`,
  );

test('a question is read in either language, whatever stands first', () => {
  const read = (/** @type {string} */ text) => {
    const { kinds, number, name } = parseQuery(text);
    return [kinds.join('|'), number, name];
  };
  assert.deepEqual(read('207'), ['', 207, '']);
  assert.deepEqual(read('slot: 207'), ['slot', 207, '']);
  assert.deepEqual(read('槽位207'), ['slot', 207, '']);
  assert.deepEqual(read('块 12'), ['block', 12, '']);
  assert.deepEqual(read('逻辑块 1'), ['logical_block', 1, '']);
  assert.deepEqual(read('token 2016'), ['token_id|flat_token', 2016, '']);
  assert.deepEqual(read('token id 2016'), ['token_id', 2016, '']);
  assert.deepEqual(read('pos 31 of A'), ['position', 31, 'A']);
  assert.deepEqual(read('A的位置31'), ['position', 31, 'A']);
  assert.deepEqual(read("A's position 31"), ['position', 31, 'A']);
  assert.deepEqual(read('position 31 of request B'), ['position', 31, 'B']);
  assert.deepEqual(read('pos 31 of chat-1'), ['position', 31, 'chat-1']);
  assert.deepEqual(read('row 7'), ['pool_row|batch_row', 7, '']);
  assert.deepEqual(read('batch row 1'), ['batch_row', 1, '']);
  assert.deepEqual(read('第 3 行'), ['pool_row|batch_row', 3, '']);
  assert.deepEqual(read('请求 A'), ['request', null, 'A']);
  assert.deepEqual(read('byte 847,872'), ['byte', 847872, '']);
  assert.deepEqual(read('slot-1'), ['', null, 'slot-1']);
  assert.deepEqual(read('slot -1'), ['slot', -1, '']);
  assert.deepEqual(read('２０７'), ['', 207, ''], 'full-width digits');
  assert.deepEqual(parseQuery('slot_mappings[0, 3]').cell, { space: 'slot_mappings', at: [0, 3] });
  assert.deepEqual(parseQuery('slot_mappings.0.3').cell, { space: 'slot_mappings', at: [0, 3] });
  assert.equal(parseQuery('9'.repeat(30)).number, null, 'no number that a double cannot hold');
});

test('a bare number is everything that it is, what this step works on first', () => {
  assert.deepEqual(found('207'), ['slot 207 slot_written slot_mappings.0.0']);
  assert.deepEqual(found('12'), [
    'block 12 block_held block_tables.0.7.1',
    'position 12 position_held block_tables.0.7.0',
    'position 12 position_held block_tables.0.6.0',
    'position 12 position_now positions.12 in 0',
    'position 12 position_now positions.28 in 0',
  ]);
  assert.deepEqual(found('31')[0], 'position 31 position_now positions.0');
  assert.deepEqual(found('7').slice(0, 2), ['pool_row 7 row_live row_req_ids.7', 'flat_token 7 flat_token positions.7']);
  assert.deepEqual(found('2016'), ['token_id 2016 id_input input_ids.1']);
});

test('a word says which index space is meant', () => {
  assert.deepEqual(found('block 12'), ['block 12 block_held block_tables.0.7.1']);
  assert.deepEqual(found('token 2016'), ['token_id 2016 id_input input_ids.1']);
  assert.deepEqual(found('token 3'), ['flat_token 3 flat_token positions.3']);
  assert.deepEqual(found('row 1'), ['pool_row 1 row_unused row_req_ids.1', 'batch_row 1 batch_row idx_mapping.1']);
  assert.deepEqual(found('batch row 1'), ['batch_row 1 batch_row idx_mapping.1']);
  assert.deepEqual(found('logical block 1 of B'), ['logical_block 1 logical_block block_tables.0.7.1']);
  assert.deepEqual(found('byte 847900'), ['byte 847900 byte slot_byte_offsets.0.0'], 'inside slot 207');
  assert.deepEqual(found('flat 9'), ['flat_token 9 token_padding slot_mappings.0.9']);
  assert.deepEqual(found('slot -1'), ['slot -1 slot_nowhere slot_mappings.0.9']);
});

test('a request narrows it down', () => {
  assert.deepEqual(found('position 16 of A'), ['position 16 position_now positions.1']);
  assert.deepEqual(found('position 16 of B'), [
    'position 16 position_held block_tables.0.7.1',
    'position 16 position_now positions.32 in 0',
  ]);
  assert.deepEqual(found('A 23'), ['position 23 position_now positions.8']);
  assert.deepEqual(found('slot 207 of A'), []);
});

test('slots that the step does not write', () => {
  const where = (/** @type {string} */ text, index = 1) =>
    find(text, scope(index)).hits.map(({ says, params, request }) => [says, params.block, params.offset, request]);
  assert.deepEqual(where('slot 600')[0], ['slot_filled', '37', '8', 'B']);
  assert.deepEqual(where('slot 715'), [['slot_reserved', '44', '11', 'A']]);
  assert.deepEqual(where('slot 3'), [['slot_null', '0', undefined, null]]);
  assert.deepEqual(where('slot 1000'), [['slot_free', '62', undefined, null]]);
  assert.deepEqual(where('slot 82', 2), [['slot_stale', '5', undefined, 'Z']]);
  assert.deepEqual(
    find('slot 5000', scope(1)).hits.map(({ says, params }) => [says, params.last]),
    [['slot_beyond', '2047']],
  );
});

test('blocks that nobody holds', () => {
  assert.deepEqual(found('block 5', 2), [
    'block 5 block_stale stale_block_ids.0',
    'block 5 block_held block_tables.0.5.0 in 1',
  ]);
  assert.deepEqual(found('block 0'), ['block 0 block_null']);
  assert.equal(find('block 0', scope(1)).hits[0].term, 'null-block');
  assert.deepEqual(found('block 99'), ['block 99 block_free']);
  assert.deepEqual(found('block 128'), ['block 128 block_beyond']);
  assert.deepEqual(found('99'), [], 'a bare number is no riddle');
});

test('what the step on screen does not have is looked for in the others, nearest first', () => {
  assert.deepEqual(found('slot 207', 2).at(-1), 'slot 207 slot_written slot_mappings.0.0 in 1');
  assert.deepEqual(found('token id 1005', 2), ['token_id 1005 id_input input_ids.21 in 0']);
  assert.deepEqual(found('block 62', 1), ['block 62 block_free', 'block 62 block_held block_tables.0.7.2 in 2']);
});

test('a request by its name, its letter, or part of its name', () => {
  assert.deepEqual(found('A'), ['request A request_running idx_mapping.1', 'request A request_first slot_mappings.0.1']);
  assert.deepEqual(found('请求 a')[0], 'request A request_running idx_mapping.1');
  assert.deepEqual(found('A', 2), ['request A request_idle num_computed_tokens.6']);
  assert.deepEqual(found('chat'), ['request chat-1 request_never']);
  assert.deepEqual(found('C'), ['request chat-1 request_never'], 'the letter it is shown with');
  const late = [{ req_id: 'Q' }];
  const elsewhere = find(
    'Q',
    scope(1, {
      requests: late,
      identities: identities(late),
      scheduled: (/** @type {number} */ step) => (step === 2 ? ['Q'] : []),
    }),
  );
  assert.deepEqual(
    elsewhere.hits.map(({ says, step, cell }) => [says, step, cell]),
    [['request_elsewhere', 2, null]],
    'known from the schedule, although its step holds no such row',
  );
  const numbers = [{ req_id: '207' }];
  assert.deepEqual(
    find('207', scope(1, { requests: numbers, identities: identities(numbers) })).hits.map(({ kind }) => kind),
    ['request', 'slot'],
    'a name comes before a number',
  );
});

test('cells and tensors by their names', () => {
  assert.deepEqual(found('slot_mappings[0, 3]'), ['cell slot_mappings[0, 3] cell slot_mappings.0.3']);
  assert.deepEqual(found('positions[40]'), ['cell positions[40] cell positions.40 in 0']);
  assert.deepEqual(found('nothing[1]'), []);
  assert.deepEqual(found('query_s'), ['term query_start_loc term']);
  assert.deepEqual(found('query start'), ['term query_start_loc term']);
  assert.deepEqual(
    find('槽位', scope(1)).hits.map(({ term }) => term),
    ['slot'],
    'a word alone asks what it is',
  );
});

test('nothing is asked, nothing is found, nothing breaks', () => {
  for (const text of [
    '',
    '   ',
    '???',
    '[',
    'of',
    '🙂',
    '999999999999999',
    '-',
    'constructor',
    '__proto__[0]',
    '1e9',
    '<b>',
    '9'.repeat(20),
    'x'.repeat(5000),
  ])
    assert.deepEqual(found(text), [], text);
});

test('a large step is searched between two frames', () => {
  const tokens = 16_384;
  const names = Array.from({ length: 256 }, (_, b) => `r${b}`);
  const json = structuredClone(steps[1]);
  const range = (/** @type {(t: number) => number} */ of) => Array.from({ length: tokens }, (_, t) => of(t));
  Object.assign(json, {
    num_tokens: tokens,
    num_reqs: 256,
    req_ids: names,
    req_id_to_index: Object.fromEntries(names.map((name, b) => [name, b])),
  });
  for (const [name, values] of Object.entries({
    positions: range((t) => t % 64),
    input_ids: range((t) => 1000 + t),
    token_batch_idx: range((t) => t >> 6),
    slot_mappings: [range((t) => 16 + t)],
    block_numbers: [range((t) => 1 + (t >> 4))],
    block_offsets: [range((t) => t % 16)],
    row_req_ids: names,
    row_status: names.map(() => 'live'),
    num_computed_tokens: names.map(() => 4000),
  }))
    json.spaces[name] = { ...json.spaces[name], values };
  const large = Array.from({ length: 20 }, (_, index) => new Step({ ...json, index }));
  const where = scope(0, {
    step: large[0],
    others: large,
    requests: names.map((req_id) => ({ req_id })),
    identities: identities(names.map((req_id) => ({ req_id }))),
  });
  find('63', where);
  const start = performance.now();
  const { hits, capped } = find('63', where);
  const missing = find('999999', where);
  const took = performance.now() - start;
  assert.ok(hits.length <= 30 && hits.filter(({ kind }) => kind === 'position').length <= 12);
  assert.ok(capped, 'and says that there are more');
  assert.deepEqual(missing.hits, []);
  assert.ok(took < 60, `${took} ms`);
});
