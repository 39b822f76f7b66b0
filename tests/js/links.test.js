// @ts-check
/** How a cell follows from others, in the worked example: formulas, the walk, links both ways, and what they cost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain } from '../../static/js/core/trace/explain.js';
import { formulaText, lookUp } from '../../static/js/core/trace/formula.js';
import { LIT, Links } from '../../static/js/core/trace/links.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { Step, cellKey } from '../../static/js/core/trace/trace.js';
import { constants, schema, steps } from './fixtures/worked.js';

const before = new Step(steps[0]);
const step = new Step(steps[1]);
const links = new Links(new Schema(schema), constants, step, before);

/** @param {Iterable<number>} ids */
const names = (ids) =>
  [...ids]
    .map((id) => {
      const { space, cell } = links.cellOf(id);
      return cellKey(space.name, space.at(cell));
    })
    .sort();

/** @param {string} space @param {number[]} at @param {boolean} control */
const lit = (space, at, control = false) => {
  const found = links.light(space, step.space(space)?.find(at) ?? -1, control);
  return (/** @type {number} */ level) => names([...found.keys()].filter((id) => found[id] === level));
};

test('slot 207 is 12 * 16 + 15', () => {
  const cell = explain(links, 'slot_mappings', [0, 0]);
  assert.ok(cell);
  assert.equal(cell.value, 207);
  assert.equal(formulaText(cell.formula), '12 * 16 + 15');
  assert.deepEqual(cell.formula.map((piece) => piece.ref && cellKey(piece.ref.space, piece.ref.at)).filter(Boolean), [
    'block_numbers.0.0',
    'block_offsets.0.0',
  ]);
  assert.equal(cell.note, 'slot_mappings');
});

test('the walk goes from the request to the byte', () => {
  const cell = explain(links, 'slot_mappings', [0, 0]);
  assert.deepEqual(
    cell?.walk.map(({ name, value }) => [name, value]),
    [
      ['req_id', 'B'],
      ['req_state_idx', 7],
      ['batch_idx', 0],
      ['flat_token_idx', 0],
      ['position', 31],
      ['block_index', 1],
      ['block_offset', 15],
      ['block_id', 12],
      ['slot_id', 207],
      ['byte_offset', 847872],
    ],
  );
});

test('a pool row implies its batch row but no token', () => {
  const cell = explain(links, 'num_computed_tokens', [6]);
  assert.deepEqual(
    cell?.walk.map(({ name, value }) => [name, value]),
    [
      ['req_id', 'A'],
      ['req_state_idx', 6],
      ['batch_idx', 1],
    ],
  );
});

test('a carried number links to the step before', () => {
  const cell = explain(links, 'num_computed_tokens', [7]);
  assert.deepEqual(cell?.formula[0].ref, { space: 'num_computed_tokens_after', at: [1], step: 0 });
  assert.equal(formulaText(cell?.formula ?? []), 'num_computed_tokens_after[1]');
});

test('a space that is not in the trace is named, not invented', () => {
  const cell = explain(links, 'input_ids', [3]);
  assert.equal(formulaText(cell?.formula ?? []), 'all_token_ids[6, 18]');
  assert.deepEqual(names(links.inputs('input_ids', 3)), ['idx_mapping.1', 'positions.3', 'token_batch_idx.3']);
});

test('padding and unused rows say what they are', () => {
  assert.equal(explain(links, 'slot_mappings', [0, 9])?.state, 'padding');
  assert.equal(
    explain(links, 'slot_mappings', [0, 9])?.walk.some(({ name }) => name === 'slot_id'),
    false,
  );
  assert.equal(explain(links, 'num_computed_tokens', [2])?.state, 'unused');
});

/**
 * What is computed from a cell is more with every tensor that somebody adds.
 * @param {string[]} found @param {string[]} wanted @param {string[]} unwanted
 */
const holds = (found, wanted, unwanted) => {
  for (const name of wanted) assert.ok(found.includes(name), `${name} in ${found.join(' ')}`);
  for (const name of unwanted) assert.ok(!found.includes(name), `${name} in ${found.join(' ')}`);
};

test('links run both ways', () => {
  assert.deepEqual(names(links.inputs('positions', 4)), ['idx_mapping.1', 'num_computed_tokens.6', 'token_batch_idx.4']);
  holds(
    names(links.outputs('block_tables', step.space('block_tables')?.find([0, 7, 1]) ?? -1)),
    ['block_numbers.0.0', 'input_block_tables.0.0.1', 'kv_block_ids.1'],
    ['block_numbers.0.1', 'input_block_tables.0.0.0', 'slot_mappings.0.0'],
  );
  holds(names(links.outputs('block_numbers', 3)), ['slot_mappings.0.3'], ['slot_mappings.0.4', 'block_numbers.0.3']);
});

test('three strengths of light', () => {
  const at = lit('block_numbers', [0, 0]);
  assert.deepEqual(at(LIT.self), ['block_numbers.0.0']);
  assert.deepEqual(at(LIT.input), ['block_indices.0.0', 'block_tables.0.7.1', 'idx_mapping.0', 'token_batch_idx.0']);
  holds(at(LIT.output), ['slot_mappings.0.0'], ['slot_mappings.0.1', 'slot_byte_offsets.0.0']);
  holds(
    at(LIT.walk),
    ['num_computed_tokens.7', 'positions.0', 'row_req_ids.7', 'schedule_req_ids.0', 'slot_byte_offsets.0.0'],
    ['positions.1', 'num_computed_tokens.6', 'query_start_loc.0', 'slot_mappings.0.0'],
  );
  assert.deepEqual(lit('query_start_loc', [1], false)(LIT.control), []);
  // The sum before it orders it; so does what B's place in the batch is sorted by.
  holds(
    lit('query_start_loc', [1], true)(LIT.control),
    ['query_start_loc.0', 'sort_key.0.0', 'schedule_num_drafts.0'],
    ['num_scheduled_tokens.0', 'sort_key.1.0'],
  );
});

test('a bare look-up shows its indices, each a link', () => {
  const cell = explain(links, 'block_numbers', [0, 0]);
  assert.equal(formulaText(cell?.formula ?? []), 'block_tables[0, 7, 1]');
  assert.deepEqual(
    cell?.formula.flatMap(({ ref }) => (ref ? [`${ref.space}[${ref.at}]`] : [])),
    ['block_tables[0,7,1]', 'idx_mapping[0]', 'block_indices[0,0]'],
  );
  const { formula } = new Schema(schema).def('block_numbers')?.cases.at(-1) ?? {};
  assert.equal(
    lookUp(formula, (name) => new Schema(schema).def(name)?.holds),
    'block_tables[row][block]',
  );
  assert.equal(
    lookUp(['+', 1, 2], () => null),
    '',
  );
});

test('warming prepares every reverse index', () => {
  const fresh = new Links(new Schema(schema), constants, step, before);
  let calls = 0;
  while (!fresh.warm()) calls += 1;
  assert.ok(calls > 5);
  const read = new Set([...fresh.outputs('positions', 0)].map((id) => fresh.cellOf(id).space.name));
  assert.ok(read.has('block_indices') && read.has('block_offsets'));
  assert.ok(!read.has('input_ids'), 'B decodes: its token is one that was sampled, no longer looked up by position');
});
