// @ts-check
/** What is as it was is neither written, compared nor drawn again: drafts that say the same, views that show the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSame } from '../../static/js/core/scenario/same.js';
import { NOT_ON_BOARD, isSameView } from '../../static/js/ui/board/same-view.js';

test('two values are the same exactly where their JSON is', () => {
  const values = [
    null,
    0,
    1,
    '',
    '1',
    true,
    [],
    {},
    [0],
    [[]],
    { a: 1 },
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: undefined, b: 2 },
    { b: 2 },
    [{ a: [1, null] }],
    [{ a: [1, 'null'] }],
    { a: {} },
    { a: [] },
    JSON.parse('{"__proto__": 1}'),
    JSON.parse('{"__proto__": 2}'),
    { 10: 1, 9: 2 },
    { length: 0 },
  ];
  for (const one of values) {
    for (const other of values)
      assert.equal(
        isSame(one, structuredClone(other)),
        JSON.stringify(one) === JSON.stringify(other),
        `${JSON.stringify(one)} ${JSON.stringify(other)}`,
      );
  }
});

test('a view is as it was where every field is, and pin, look and range say the same place', () => {
  const step = {};
  const view = (/** @type {any} */ other) =>
    /** @type {any} */ ({
      step,
      draft: 1,
      index: 3,
      faults: [],
      pin: { space: 'positions', at: [1], step: 3 },
      range: { first: 0, last: 4 },
      ...other,
    });
  const one = view({});
  assert.ok(!isSameView(null, one));
  assert.ok(isSameView(one, { ...one, pin: { space: 'positions', at: [1], step: 3 }, range: { first: 0, last: 4 } }));
  assert.ok(!isSameView(one, { ...one, pin: null }));
  assert.ok(!isSameView(one, { ...one, step: {} }), 'another step, whatever it holds');
  assert.ok(!isSameView(one, { ...one, draft: 2, faults: [] }));
  assert.ok(isSameView(one, { ...one, draft: 2, faults: [] }, NOT_ON_BOARD));
  assert.ok(!isSameView(one, { ...one, index: 4 }, NOT_ON_BOARD));
});
