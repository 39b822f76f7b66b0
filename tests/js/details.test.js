// @ts-check
/** Details of a step and of a request as they are typed: counts, ids, groups of blocks, prompts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as details from '../../static/js/core/scenario/details.js';
import { toDraft } from '../../static/js/core/scenario/edits.js';

const draft = toDraft({
  version: 1,
  requests: [{ req_id: 'A', prompt_len: 24 }],
  steps: [{ num_scheduled_tokens: [['A', 24]] }, { num_scheduled_tokens: [['A', 1]] }],
});

test('a number is how many, several or brackets are ids, anything else stays as it is', () => {
  for (const [text, value] of /** @type {[string, any][]} */ ([
    ['3', 3],
    [' ３ ', 3],
    ['', undefined],
    ['[3]', [3]],
    ['3, 5', [3, 5]],
    ['3 5', [3, 5]],
    ['（3，5）', [3, 5]],
    ['-1, 4', [-1, 4]],
    ['3, x', '3, x'],
    ['x', 'x'],
  ])) {
    assert.deepEqual(details.readIds(text), value, text);
    if (Array.isArray(value)) assert.deepEqual(details.readIds(details.showIds(value)), value);
  }
  assert.deepEqual(
    [
      details.readBlocks('12'),
      details.readBlocks('12, ?'),
      details.readBlocks('37, -1'), // no block id, which the server says of its place
      details.readBlocks('[]'),
      details.readBlocks(''),
      details.readBlocks('a'),
    ],
    [[12], [12, null], [37, -1], [], undefined, 'a'],
  );
  assert.deepEqual(details.readBlocks(details.showBlocks([7, null])), [7, null]);
  assert.deepEqual(
    [details.showIds(undefined), details.showIds([]), details.showBlocks(undefined), details.showBlocks([])],
    ['', '[]', '', '[]'],
  );
});

test('drafts are part of the count, and accepted ones are sampled with one more', () => {
  const drafted = details.setDrafts(draft, 1, 'A', '2');
  assert.deepEqual(drafted.steps[1], { num_scheduled_tokens: [['A', 3]], draft_token_ids: { A: 2 } });
  assert.deepEqual(details.setDrafts(drafted, 1, 'A', '[9]').steps[1], {
    num_scheduled_tokens: [['A', 2]],
    draft_token_ids: { A: [9] },
  });
  assert.deepEqual(details.setDrafts(drafted, 1, 'A', '').steps[1], draft.steps[1]);
  assert.deepEqual(details.setDrafts(drafted, 1, 'A', '0').steps[1], draft.steps[1]);
  assert.deepEqual(details.setDrafts(drafted, 1, 'A', 'x').steps[1], {
    num_scheduled_tokens: [['A', 3]],
    draft_token_ids: { A: 'x' },
  });
  const accepted = details.setAccepted(drafted, 1, 'A', '1');
  assert.deepEqual(accepted.steps[1].sampled_token_ids, { A: 2 });
  assert.equal(details.acceptedOf(2), 1);
  assert.equal(details.acceptedOf([4]), 0);
  assert.equal(details.acceptedOf(undefined), undefined);
});

test('one group of blocks is given, the others keep what they had or what the pool gave', () => {
  assert.deepEqual(details.withGroup(undefined, 1, [5], 2, [[24], [36]]), [[24], [5]]);
  assert.deepEqual(details.withGroup([[1], [5]], 1, undefined, 2, []), [[1], []]);
  assert.equal(details.withGroup(undefined, 0, undefined, 1, [[24]]), undefined);
  assert.equal(details.withGroup([[3]], 0, undefined, 1, []), undefined);
});

test('a prompt is a length or ids; a request can be there from the start', () => {
  const named = details.setPrompt(draft, 0, '5, 6, 7');
  assert.deepEqual(named.requests[0], { req_id: 'A', prompt_token_ids: [5, 6, 7] });
  assert.deepEqual(details.setPrompt(named, 0, '12').requests[0], { req_id: 'A', prompt_len: 12 });
  assert.equal(details.setPrompt(draft, 0, '').requests[0].prompt_len, 24);
  const there = details.setInitialField(details.setInitial(draft, 0, true), 0, 'output_token_ids', 2);
  assert.deepEqual(there.requests[0].initial, { output_token_ids: 2 });
  assert.deepEqual(details.setInitialField(there, 0, 'output_token_ids', undefined).requests[0].initial, {});
  assert.deepEqual(details.setInitial(there, 0, false).requests, draft.requests);
});

test('a text is counted, not tokenized', () => {
  assert.deepEqual(details.countText('How far? Über.'), { words: 3, characters: 14, bytes: 15 });
});
