// @ts-check
/** What is typed into a cell, and what it comes to: a count, a mark, nothing, or no entry at all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDraft, scheduled } from '../../static/js/core/scenario/edits.js';
import { entryFaults, markOf, readEntry, readLength, setEntry } from '../../static/js/core/scenario/entry.js';
import { roomFor } from '../../static/js/core/scenario/fill.js';
import { walkOf } from '../../static/js/core/scenario/walk.js';

const draft = toDraft({
  version: 1,
  requests: [
    { req_id: 'F', prompt_len: 40 },
    { req_id: 'H', prompt_len: 10 },
    { req_id: 'G', prompt_len: 12 },
  ],
  steps: [
    { num_scheduled_tokens: { F: 40, H: 10 } },
    { finished_req_ids: ['F'], num_scheduled_tokens: { H: 1, G: 12 } },
    { preempted_req_ids: ['G'], num_scheduled_tokens: { H: 1 } },
    { num_scheduled_tokens: { G: 13 } },
  ],
});

test('what is typed is a count, a mark, nothing, or no entry at all', () => {
  for (const [text, entry] of /** @type {[string, any][]} */ ([
    ['8', 8],
    [' ８ ', 8],
    ['0', null],
    ['00', null],
    ['', null],
    ['f', 'finish'],
    ['F', 'finish'],
    ['结束', 'finish'],
    ['preempt', 'preempt'],
    ['抢占', 'preempt'],
    ['-1', '-1'],
    ['8.5', '8.5'],
    ['x', 'x'],
    ['1,024', 1024],
    ['1,02', '1,02'],
    ['12,', '12,'],
    ['99999999999', '99999999999'],
  ])) {
    assert.equal(readEntry(text), entry, text);
  }
});

test('a prompt has a length, and no mark', () => {
  for (const [text, length] of /** @type {[string, any][]} */ ([
    [' ８ ', 8],
    ['0', null],
    ['f', 'f'],
    [' Finish', 'Finish'],
    ['1e9', '1e9'],
  ]))
    assert.equal(readLength(text), length, text);
});

test('a cell holds a count or a mark, never both, and no empty list stays behind', () => {
  const finished = setEntry(draft, 2, 'H', 'finish');
  assert.equal(markOf(finished, 2, 'H'), 'finish');
  assert.equal(scheduled(finished, 2, 'H'), undefined);
  const swapped = setEntry(finished, 2, 'H', 'preempt');
  assert.equal('finished_req_ids' in swapped.steps[2], false);
  assert.deepEqual(swapped.steps[2].preempted_req_ids, ['G', 'H']);
  const counted = setEntry(swapped, 2, 'H', 1);
  assert.equal(markOf(counted, 2, 'H'), null);
  assert.equal(scheduled(counted, 2, 'H'), 1);
  assert.equal(markOf(setEntry(finished, 2, 'H', null), 2, 'H'), null);
  assert.equal(markOf(draft, 2, 'H'), null);
});

test('a request waits, lives, and leaves the pool for good or until it is scheduled again', () => {
  const [f, h, g] = draft.requests.map((_, row) => draft.steps.map((_step, step) => walkOf(draft).where(step, row)));
  assert.deepEqual(f, ['live', 'finished', 'finished', 'finished']);
  assert.deepEqual(h, ['live', 'live', 'live', 'live']);
  assert.deepEqual(g, ['waiting', 'live', 'preempted', 'live']);
  const there = { ...draft, requests: [{ req_id: 'Z', prompt_len: 4, initial: {} }] };
  assert.equal(walkOf(there).where(0, 0), 'live');
});

test('a new request gets its prompt, or what budget and rows leave', () => {
  assert.equal(roomFor(draft, 1, 16, {}), 16);
  assert.equal(roomFor(draft, 0, 16, {}), 14); // 64 - 50
  assert.equal(roomFor(draft, 0, 16, { max_num_batched_tokens: 50 }), 0);
  assert.equal(roomFor(draft, 1, 16, { max_num_reqs: 2 }), 0);
});

test('what is no whole number is known without asking the server', () => {
  assert.deepEqual(entryFaults(draft), []);
  const [fault, ...more] = entryFaults(setEntry(draft, 1, 'G', '-3'));
  assert.deepEqual(more, []);
  assert.deepEqual(
    [fault.where, fault.key, fault.params],
    ['/steps/1/num_scheduled_tokens/1/1', 'entry.count', { step: 1, req_id: 'G' }],
  );
  const wrong = {
    ...draft,
    requests: [{ req_id: 'F', prompt_len: /** @type {any} */ ('many') }, ...draft.requests.slice(1)],
  };
  assert.deepEqual(
    entryFaults(wrong).map(({ key }) => key),
    ['entry.prompt'],
  );
});
