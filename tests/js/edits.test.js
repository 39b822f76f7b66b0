// @ts-check
/** Edits of a scenario: counts in their order, requests and steps that are new or gone, and a draft that stays as it was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as edits from '../../static/js/core/scenario/edits.js';
import { Undo, placeOfChange } from '../../static/js/core/scenario/history.js';

const draft = edits.toDraft({
  version: 1,
  start_step: 1,
  requests: [
    { req_id: 'B', prompt_len: 31 },
    { req_id: 'A', prompt_len: 24 },
  ],
  steps: [
    { num_scheduled_tokens: { B: 31, A: 16 }, new_block_ids: { B: [[37, 12]], A: [[81, 44]] } },
    {
      num_scheduled_tokens: [
        ['B', 1],
        ['A', 8],
      ],
      finished_req_ids: ['A'],
    },
  ],
});

test('counts become pairs, whose order is kept', () => {
  assert.deepEqual(draft.steps[0].num_scheduled_tokens, [
    ['B', 31],
    ['A', 16],
  ]);
  const numbered = edits.setScheduled(edits.toDraft({ version: 1, requests: [], steps: [{}] }), 0, '10', 3);
  assert.deepEqual(edits.setScheduled(numbered, 0, '2', 4).steps[0].num_scheduled_tokens, [
    ['10', 3],
    ['2', 4],
  ]);
});

test('a count is replaced in its place, added at the end, or taken away', () => {
  assert.deepEqual(edits.setScheduled(draft, 1, 'B', 2).steps[1].num_scheduled_tokens, [
    ['B', 2],
    ['A', 8],
  ]);
  assert.deepEqual(edits.setScheduled(draft, 1, 'C', 5).steps[1].num_scheduled_tokens, [
    ['B', 1],
    ['A', 8],
    ['C', 5],
  ]);
  assert.deepEqual(edits.setScheduled(draft, 1, 'B', null).steps[1].num_scheduled_tokens, [['A', 8]]);
  assert.equal(edits.scheduled(draft, 1, 'B'), 1);
  assert.equal(edits.scheduled(draft, 1, 'Q'), undefined);
});

test('an edit leaves the draft it came from alone', () => {
  const before = JSON.stringify(draft);
  edits.setScheduled(draft, 1, 'A', 5);
  edits.removeRequest(draft, 'A');
  edits.applyPatch(draft, [{ op: 'replace', path: '/steps/1/num_scheduled_tokens/1/1', value: 3 }]);
  assert.equal(JSON.stringify(draft), before);
});

test('new requests take the next free letter, and bring a first step where there is none', () => {
  assert.equal(edits.addRequest(draft).requests[2].req_id, 'C');
  const first = edits.addRequest(edits.toDraft({ version: 1, requests: [], steps: [] }));
  assert.deepEqual([first.requests[0].req_id, first.steps.length], ['A', 1]);
  let many = draft;
  for (let more = 0; more < 40; more += 1) many = edits.addRequest(many);
  assert.equal(new Set(many.requests.map(({ req_id }) => req_id)).size, 42);
});

test('a request goes with all that steps say about it', () => {
  const left = edits.removeRequest(draft, 'A');
  assert.equal(JSON.stringify(left).includes('"A"'), false);
  assert.deepEqual(left.steps[1].finished_req_ids, []);
});

test('removing steps keeps the first step shown inside', () => {
  assert.equal(edits.removeStep(draft, 0).start_step, undefined);
  assert.equal(edits.removeStep(edits.addStep(draft), 2).start_step, 1);
  assert.equal(edits.removeStep(edits.removeStep(draft, 1), 0).steps.length, 0);
});

test('a repair is applied as a JSON patch', () => {
  const repaired = edits.applyPatch(draft, [
    { op: 'replace', path: '/steps/1/num_scheduled_tokens/1/1', value: 3 },
    { op: 'remove', path: '/steps/1/finished_req_ids' },
    { op: 'add', path: '/steps/1/num_scheduled_tokens/-', value: ['C', 1] },
  ]);
  assert.deepEqual(repaired.steps[1], {
    num_scheduled_tokens: [
      ['B', 1],
      ['A', 3],
      ['C', 1],
    ],
  });
  assert.deepEqual(edits.pointerKeys('/requests/0/a~1b~0c'), ['requests', '0', 'a/b~c']);
});

test('a fault finds its cell of the grid', () => {
  const at = (/** @type {string} */ where, params = {}) => edits.placeOf(draft, { where, params });
  assert.deepEqual(at('/steps/1/num_scheduled_tokens/1/1'), { step: 1, reqId: 'A' });
  assert.deepEqual(at('/steps/0/new_block_ids/B/0/1'), { step: 0, reqId: 'B' });
  assert.deepEqual(at('/requests/1/prompt_len'), { step: null, reqId: 'A' });
  assert.deepEqual(at('', { step: 1, req_id: 'B' }), { step: 1, reqId: 'B' });
  assert.deepEqual(at(''), { step: null, reqId: null });
});

test('undo and redo travel, a new edit forgets what was undone', () => {
  const undo = new Undo(2);
  const [one, two, three] = [1, 2, 3].map((count) => edits.setScheduled(draft, 1, 'B', count));
  undo.push(draft);
  undo.push(one);
  undo.push(two);
  assert.equal(undo.undo(three), two);
  assert.equal(undo.undo(two), one);
  assert.equal(undo.undo(one), null, 'only so many are kept');
  assert.equal(undo.redo(one), two);
  undo.push(two);
  assert.equal(undo.redo(three), null);
});

test('where two drafts differ is a cell of the later one', () => {
  const typed = edits.setScheduled(draft, 1, 'A', 5);
  assert.deepEqual(placeOfChange(draft, typed), { row: 1, column: 1 });
  assert.deepEqual(placeOfChange(draft, edits.setDetail(draft, 0, 'A', 'draft_token_ids', 1)), { row: 1, column: 0 });
  assert.deepEqual(placeOfChange(draft, edits.setPromptLen(draft, 0, 30)), { row: 0, column: -1 });
  assert.deepEqual(placeOfChange(edits.removeRequest(draft, 'B'), draft), { row: 0, column: 0 });
  assert.deepEqual(placeOfChange(draft, edits.removeStep(draft, 1)), { row: 0, column: 0 });
  assert.equal(placeOfChange(draft, edits.setText(draft, 'title', 'Mine')), null);
  assert.equal(placeOfChange(draft, draft), null);
});

test('what is said of the tokens of a request comes and goes alone, whatever the request is called', () => {
  const named = edits.toDraft({
    version: 1,
    requests: [{ req_id: 'constructor', prompt_len: 4 }],
    steps: [{ num_scheduled_tokens: [['constructor', 4]] }],
  });
  assert.equal(
    edits.detailOf(edits.setDetail(named, 0, 'X', 'draft_token_ids', 1).steps[0], 'draft_token_ids', 'constructor'),
    undefined,
  );
  const said = edits.setDetail(named, 0, 'constructor', 'draft_token_ids', 2);
  assert.equal(edits.detailOf(said.steps[0], 'draft_token_ids', 'constructor'), 2);
  assert.deepEqual(edits.dropDetails(said, 0, 'constructor'), named);
});
