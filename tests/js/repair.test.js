// @ts-check
/** Repairs of a schedule that has gone on since, the order of a step, and edits as the page says them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOrderedAsRows, orderAsRows } from '../../static/js/core/scenario/arrange.js';
import { placeOf, removeRequest, setPromptLen, setScheduled } from '../../static/js/core/scenario/edits.js';
import { isRepairOf, repaired } from '../../static/js/core/scenario/repair.js';
import { changed } from '../../static/js/page/state/editing.js';

/** @typedef {[string, number][]} Pairs */

const DRAFT = {
  version: 1,
  config: { max_num_reqs: 8 },
  requests: [
    { req_id: 'B', prompt_len: 31 },
    { req_id: 'A', prompt_len: 24 },
    { req_id: 'C', prompt_len: 14 },
  ],
  steps: [
    { num_scheduled_tokens: /** @type {Pairs} */ ([['B', 31]]) },
    {
      num_scheduled_tokens: /** @type {Pairs} */ ([
        ['B', 1],
        ['A', 40],
        ['C', 14],
      ]),
    },
  ],
};
/** A's count of step 1 is wrong. */
const FAULT = {
  where: '/steps/1/num_scheduled_tokens/1/1',
  code: 'count',
  message: '',
  fix: [{ op: 'replace', path: '/steps/1/num_scheduled_tokens/1/1', value: 24 }],
  of: DRAFT,
};
const counts = (/** @type {any} */ draft) => draft.steps.map((/** @type {any} */ step) => step.num_scheduled_tokens);

test('a repair is applied to what was refused, however else the draft has gone on', () => {
  assert.deepEqual(counts(repaired(DRAFT, [FAULT]))[1][1], ['A', 24]);
  const elsewhere = setPromptLen(setScheduled(DRAFT, 0, 'B', 30), 2, 15);
  assert.ok(isRepairOf(elsewhere, FAULT));
  const both = repaired(elsewhere, [FAULT]);
  assert.deepEqual(counts(both), [
    [['B', 30]],
    [
      ['B', 1],
      ['A', 24],
      ['C', 14],
    ],
  ]);
});

test('of anything else it is no repair, and changes nothing', () => {
  const gone = [
    setScheduled(DRAFT, 1, 'B', null), // A is the first now, and C what was the second
    setScheduled(DRAFT, 1, 'A', 9), // another count by now
    { ...DRAFT, steps: [DRAFT.steps[0]] },
    { ...DRAFT, steps: [] },
    removeRequest(DRAFT, 'B'),
  ];
  for (const draft of gone) {
    assert.ok(!isRepairOf(draft, FAULT));
    assert.equal(repaired(draft, [FAULT]), draft);
    assert.equal(changed(draft, { kind: 'fix', faults: [FAULT] }), draft);
  }
  // All or none: the second one is of a config that is another now.
  const config = { ...FAULT, fix: [{ op: 'replace', path: '/config/max_num_reqs', value: 4 }] };
  const other = { ...DRAFT, config: { max_num_reqs: 5 } };
  assert.equal(repaired(other, [FAULT, config]), other);
  assert.ok(!isRepairOf(DRAFT, { ...FAULT, fix: [] }));
  assert.ok(!isRepairOf(DRAFT, { ...FAULT, fix: null }));
});

test('a fault is said at the request it was found at, wherever that is by now', () => {
  const moved = changed(DRAFT, { kind: 'order', step: 1, req_id: 'C', by: -1 });
  assert.deepEqual(placeOf(moved, FAULT), { step: 1, reqId: 'A' });
  assert.deepEqual(placeOf(moved, { ...FAULT, of: undefined }), { step: 1, reqId: 'C' });
});

test('a step is put in the order of the rows, and left alone where it is', () => {
  assert.ok(isOrderedAsRows(DRAFT, 1));
  assert.equal(orderAsRows(DRAFT, 1), DRAFT);
  const swapped = changed(DRAFT, { kind: 'order', step: 1, req_id: 'C', by: -1 });
  assert.ok(!isOrderedAsRows(swapped, 1));
  assert.ok(isOrderedAsRows(swapped, 0));
  assert.deepEqual(counts(orderAsRows(swapped, 1)), counts(DRAFT));
  // The same step is in order or not as the rows are.
  const rows = changed(DRAFT, { kind: 'move-request', row: 0, by: 1 });
  assert.equal(rows.steps[1], DRAFT.steps[1]);
  assert.ok(!isOrderedAsRows(rows, 1));
  assert.deepEqual(counts(changed(rows, { kind: 'order-as-rows', step: 1 }))[1], [
    ['A', 40],
    ['B', 1],
    ['C', 14],
  ]);
  assert.ok(isOrderedAsRows(DRAFT, 7), 'a step that is not there');
});
