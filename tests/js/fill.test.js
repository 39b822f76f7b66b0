// @ts-check
/** A request that is run by itself: within the budget, the pool and the model, chunk by chunk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduled, toDraft } from '../../static/js/core/scenario/edits.js';
import { decodeAll, runRequest, runRequests } from '../../static/js/core/scenario/fill.js';

/** @typedef {import('../../static/js/core/scenario/edits.js').Scenario} Scenario */
const empty = (/** @type {number} */ count) => Array.from({ length: count }, () => ({ num_scheduled_tokens: [] }));
const counts = (/** @type {Scenario} */ draft, /** @type {string} */ name) =>
  draft.steps.map((_, step) => scheduled(draft, step, name) ?? 0);

const two = toDraft({
  version: 1,
  config: { max_num_batched_tokens: 16 },
  requests: [
    { req_id: 'A', prompt_len: 24 },
    { req_id: 'B', prompt_len: 10 },
  ],
  steps: [{ num_scheduled_tokens: [['B', 10]] }, { num_scheduled_tokens: [['B', 1]] }, ...empty(3)],
});

test('a request runs its prompt within the budget and then decodes to the last step', () => {
  // 16 - 10 = 6 fit into step 0, 16 - 1 = 15 into step 1, 24 - 21 = 3 are left.
  assert.deepEqual(counts(runRequest(two, 'A', { from: 0 }), 'A'), [6, 15, 3, 1, 1]);
  assert.deepEqual(counts(runRequest(two, 'A', { from: 2, to: 3 }), 'A'), [0, 0, 16, 8, 0]);
});

test('chunks by n, so many decodes, steps only where asked', () => {
  assert.deepEqual(counts(runRequest(two, 'A', { from: 1, chunk: 10, decodes: 0 }), 'A'), [0, 10, 10, 4, 0]);
  assert.deepEqual(
    counts(runRequest(two, 'A', { from: 3, chunk: 5, decodes: 2, isAdding: true }), 'A'),
    [0, 0, 0, 5, 5, 5, 5, 4, 1, 1],
  );
  assert.equal(runRequest(two, 'A', { from: 3, chunk: 5, decodes: 2 }).steps.length, 5);
  assert.equal(runRequest(two, 'A', { from: 4, isAdding: true }).steps.length, 6, 'to the end of the prompt: 16 + 8');
  const crowded = { ...two, config: { max_num_batched_tokens: 16, max_num_reqs: 1 } };
  assert.equal(runRequest(crowded, 'A', { from: 0, isAdding: true }), crowded, 'there is never a row for it');
});

test('a full pool has no row, and the end of the model no token', () => {
  assert.deepEqual(counts(runRequest({ ...two, config: { max_num_reqs: 1 } }, 'A', { from: 0 }), 'A'), [0, 0, 0, 0, 0]);
  // Positions 0..25 at most: max_model_len - 1 = 26 tokens computed.
  assert.deepEqual(counts(runRequest({ ...two, config: { max_model_len: 27 } }, 'A', { from: 0 }), 'A'), [24, 1, 1, 0, 0]);
});

test('drafts are part of what runs, and go where the chunk ends before them', () => {
  const drafted = toDraft({
    ...two,
    config: { max_num_batched_tokens: 16, num_speculative_tokens: 2 },
    steps: [
      { draft_token_ids: { A: 2 } },
      {},
      { draft_token_ids: { A: 2 } },
      { draft_token_ids: { A: 2 }, sampled_token_ids: { A: 1 } },
      {},
    ],
  });
  const run = runRequest(drafted, 'A', { from: 0 });
  assert.deepEqual(counts(run, 'A'), [16, 8, 3, 3, 1]);
  assert.deepEqual(
    run.steps.map((step) => step.draft_token_ids?.A ?? 0),
    [0, 0, 2, 2, 0],
  );
});

test('it stops where the request leaves, and a preempted one starts from nothing', () => {
  const marked = toDraft({
    ...two,
    steps: [...empty(2), { num_scheduled_tokens: [], preempted_req_ids: ['A'] }, ...empty(3)],
  });
  assert.deepEqual(counts(runRequest(marked, 'A', { from: 0 }), 'A'), [16, 8, 0, 0, 0, 0]);
  // 24 + 1 sampled are known when it comes back.
  assert.deepEqual(counts(runRequest(runRequest(marked, 'A', { from: 0 }), 'A', { from: 3 }), 'A'), [16, 8, 0, 16, 9, 1]);
});

test('several requests share the budget; everybody who can decode does', () => {
  const both = runRequests(toDraft({ ...two, steps: empty(4) }), ['A', 'B'], { from: 0 });
  assert.deepEqual(
    [counts(both, 'A'), counts(both, 'B')],
    [
      [16, 8, 1, 1],
      [0, 8, 2, 1],
    ],
  );
  const decoding = decodeAll(two, { from: 2 });
  assert.deepEqual(
    [counts(decoding, 'A'), counts(decoding, 'B')],
    [
      [0, 0, 0, 0, 0],
      [10, 1, 1, 1, 1],
    ],
  );
  assert.deepEqual(
    counts(decodeAll({ ...two, steps: [two.steps[0], ...empty(3)] }, { from: 0, to: 2 }), 'B'),
    [10, 1, 1, 0],
  );
});
