// @ts-check
/** Requests and steps are renamed, moved, copied, put in and taken out, and what else names them follows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as arrange from '../../static/js/core/scenario/arrange.js';
import { toDraft } from '../../static/js/core/scenario/edits.js';

const draft = toDraft({
  version: 1,
  start_step: 1,
  requests: [
    { req_id: 'B', prompt_len: 31, initial: { num_computed_tokens: 2, req_state_idx: 3, block_ids: [[5]] } },
    { req_id: 'A', prompt_len: 24 },
  ],
  steps: [
    {
      num_scheduled_tokens: [
        ['B', 29],
        ['A', 16],
      ],
      num_computed_tokens: { A: 4 },
      new_block_ids: { A: [[81, 44]] },
    },
    { num_scheduled_tokens: [['A', 4]], draft_token_ids: { A: 1 }, finished_req_ids: ['B'] },
  ],
});

test('a name changes wherever it is said, and only to one that is free', () => {
  const renamed = arrange.renameRequest(draft, 1, 'long prompt');
  assert.equal(JSON.stringify(renamed).includes('"A"'), false);
  assert.deepEqual(renamed.steps[0], {
    num_scheduled_tokens: [
      ['B', 29],
      ['long prompt', 16],
    ],
    num_computed_tokens: { 'long prompt': 4 },
    new_block_ids: { 'long prompt': [[81, 44]] },
  });
  assert.deepEqual(arrange.renameRequest(draft, 0, 'C').steps[1].finished_req_ids, ['C']);
  for (const [name, fault] of [
    ['B', 'taken'],
    ['', 'empty'],
    ['x'.repeat(129), 'long'],
  ]) {
    assert.equal(arrange.nameFault(draft, 1, name), fault);
    assert.equal(arrange.renameRequest(draft, 1, name), draft);
  }
  assert.equal(arrange.nameFault(draft, 1, 'A'), '');
});

test('requests move, at most to the ends', () => {
  const names = (/** @type {import('../../static/js/core/scenario/edits.js').Scenario} */ one) =>
    one.requests.map(({ req_id }) => req_id);
  assert.deepEqual(names(arrange.moveRequest(draft, 0, 1)), ['A', 'B']);
  assert.deepEqual(names(arrange.moveRequest(draft, 0, -1)), ['B', 'A']);
});

test('a copy of a request runs like it, on blocks and a row of its own', () => {
  const twice = arrange.duplicateRequest(draft, 0);
  assert.deepEqual(twice.requests[1], { req_id: 'C', prompt_len: 31, initial: { num_computed_tokens: 2 } });
  assert.deepEqual(twice.steps[0].num_scheduled_tokens, [
    ['B', 29],
    ['A', 16],
    ['C', 29],
  ]);
  assert.deepEqual(twice.steps[1].finished_req_ids, ['B', 'C']);
  const other = arrange.duplicateRequest(draft, 1);
  assert.deepEqual(
    [other.steps[0].num_computed_tokens, other.steps[0].new_block_ids, other.steps[1].draft_token_ids],
    [{ A: 4, C: 4 }, { A: [[81, 44]] }, { A: 1, C: 1 }],
  );
});

test('the step shown first stays the same step', () => {
  const inserted = arrange.insertStep(draft, 1);
  assert.deepEqual([inserted.start_step, inserted.steps.length, inserted.steps[1]], [2, 3, { num_scheduled_tokens: [] }]);
  assert.equal(arrange.insertStep(draft, 2).start_step, 1);
  const moved = arrange.moveStep(draft, 1, -1);
  assert.equal(moved.steps[0], draft.steps[1], 'a step goes with all that is in it');
  assert.equal(moved.start_step, undefined);
  assert.equal(arrange.moveStep(draft, 0, 1).start_step, undefined);
  assert.equal(arrange.starting(draft, 0).start_step, undefined);
});

test('a step once more has its counts and drafts, and nobody finishes twice', () => {
  assert.deepEqual(arrange.duplicateStep(draft, 1).steps[2], {
    num_scheduled_tokens: [['A', 4]],
    draft_token_ids: { A: 1 },
  });
  assert.deepEqual(arrange.duplicateStep(draft, 0).steps[1], {
    num_scheduled_tokens: [
      ['B', 29],
      ['A', 16],
    ],
  });
});

test('the order inside a step changes by one place', () => {
  assert.deepEqual(arrange.moveInOrder(draft, 0, 'A', -1).steps[0].num_scheduled_tokens, [
    ['A', 16],
    ['B', 29],
  ]);
  assert.deepEqual(arrange.moveInOrder(draft, 0, 'A', 1), draft);
});
