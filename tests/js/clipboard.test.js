// @ts-check
/** Blocks of cells to and from a spreadsheet: what is copied, and what a paste makes of the schedule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearBlock, copyBlock, pasteBlock, readBlock } from '../../static/js/core/scenario/clipboard.js';
import { toDraft } from '../../static/js/core/scenario/edits.js';
import * as selection from '../../static/js/core/scenario/selection.js';

const draft = toDraft({
  version: 1,
  requests: [
    { req_id: 'B', prompt_len: 31 },
    { req_id: 'A', prompt_len: 24 },
  ],
  steps: [
    {
      num_scheduled_tokens: [
        ['B', 31],
        ['A', 16],
      ],
    },
    { num_scheduled_tokens: [['A', 8]], finished_req_ids: ['B'], draft_token_ids: { A: 1 } },
  ],
});
const word = (/** @type {string} */ mark) => (mark === 'finish' ? '结束' : '抢占');
const whole = { top: 0, left: 0, bottom: 1, right: 1 };

test("a block of cells is text with tabs, in the reader's words", () => {
  assert.equal(copyBlock(draft, whole, word), '31\t结束\n16\t8');
  assert.equal(copyBlock(draft, { ...whole, left: -1, right: 0 }, word), '31\t31\n24\t16');
});

test('a spreadsheet ends its text with a line, and quotes what it must', () => {
  assert.deepEqual(readBlock('1\t2\r\n3\t\r\n'), [
    ['1', '2'],
    ['3', ''],
  ]);
  assert.deepEqual(readBlock('"a ""b"""\t5'), [['a "b"', '5']]);
  assert.deepEqual(readBlock(''), [['']]);
  assert.deepEqual(readBlock('\t1'), [['', '1']]);
});

test('what is copied can be pasted where it came from', () => {
  const pasted = pasteBlock(
    { ...draft, steps: draft.steps.map((step) => ({ ...step, num_scheduled_tokens: [] })) },
    whole,
    readBlock(copyBlock(draft, whole, word)),
  );
  assert.deepEqual(pasted.draft.steps[0].num_scheduled_tokens, [
    ['B', 31],
    ['A', 16],
  ]);
  assert.deepEqual(
    [pasted.draft.steps[1].num_scheduled_tokens, pasted.draft.steps[1].finished_req_ids],
    [[['A', 8]], ['B']],
  );
});

test('a block beyond the edge brings its requests and steps, as far as the format goes', () => {
  const at = { top: 1, left: 1, bottom: 1, right: 1 };
  const pasted = pasteBlock(draft, at, [
    ['f', '1,024', ''],
    ['24', '8', '1'],
  ]);
  assert.equal(pasted.draft.steps.length, 4);
  assert.deepEqual(pasted.draft.requests[2], { req_id: 'C', prompt_len: 32 }, '24 + 8 before the first single token');
  assert.deepEqual(pasted.draft.steps[2].num_scheduled_tokens, [
    ['A', 1024],
    ['C', 8],
  ]);
  assert.equal(pasted.draft.steps[1].draft_token_ids, undefined, 'drafts go with the count they belong to');
  const wide = pasteBlock(draft, at, [Array.from({ length: 600 }, () => '1')]);
  assert.deepEqual([wide.draft.steps.length, wide.columns, wide.cutColumns, wide.cutRows], [512, 511, 89, 0]);
});

test('one cell fills the selection, prompts are read in their column, clearing leaves them', () => {
  assert.deepEqual(
    pasteBlock(draft, whole, [['2']]).draft.steps.map((step) => step.num_scheduled_tokens),
    [
      [
        ['B', 2],
        ['A', 2],
      ],
      [
        ['A', 2],
        ['B', 2],
      ],
    ],
  );
  assert.deepEqual(pasteBlock(draft, { ...whole, left: -1 }, [['40', '40']]).draft.requests[0].prompt_len, 40);
  assert.deepEqual(clearBlock(draft, { ...whole, left: -1 }).steps, [
    { num_scheduled_tokens: [] },
    { num_scheduled_tokens: [] },
  ]);
});

test('a selection grows from its anchor, inside the schedule', () => {
  const size = { rows: 2, columns: 3 };
  const grown = selection.extend(selection.only({ row: 1, column: 1 }), -1, 5, size);
  assert.deepEqual(selection.rectangle(grown), { top: 0, left: 1, bottom: 1, right: 2 });
  assert.ok(
    selection.isMany(grown) &&
      selection.contains(selection.rectangle(grown), 0, 2) &&
      !selection.contains(selection.rectangle(grown), 0, 0),
  );
  assert.deepEqual(selection.rectangle(selection.everything(size)), { top: 0, left: 0, bottom: 1, right: 2 });
  assert.deepEqual(selection.fitted(grown, { rows: 1, columns: 2 }), {
    anchor: { row: 0, column: 1 },
    head: { row: 0, column: 1 },
  });
  assert.equal(selection.fitted(grown, { rows: 0, columns: 2 }), null);
});
