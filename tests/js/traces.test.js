// @ts-check
/** The steps of a scenario as they are fetched: which ones, how often, and which are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schema } from '../../static/js/core/trace/schema.js';
import { Problem } from '../../static/js/page/api.js';
import { Trace } from '../../static/js/page/state/traces.js';
import { schema, steps } from './fixtures/invented.js';

/** @param {number} index */
const stepAt = (index) => ({ ...steps[0], index });

/**
 * A trace of so many steps, and which windows of it were asked for.
 * @param {number} numSteps
 * @param {number} [most] steps in an answer; more are too many
 */
function traceOf(numSteps, most = 3) {
  /** @type {[number, number][]} */
  const asked = [];
  const api = {
    /** @param {any} _ @param {{first?: number, last: number}} window */
    trace: async (_, { first = 0, last }) => {
      const until = Math.min(last, numSteps - 1);
      asked.push([first, last]);
      await null;
      if (until - first + 1 > most) throw new Problem(/** @type {any} */ (refusal));
      const found = Array.from({ length: until - first + 1 }, (_step, place) => stepAt(first + place));
      return { constants: {}, summary: [], steps: found, stopped: null };
    },
  };
  const refusal = { status: 413, detail: 'no', errors: [{ where: '', code: 'response_too_large', message: 'no' }] };
  const scenario = { version: 1, requests: [], steps: Array.from({ length: numSteps }, () => ({})) };
  return { trace: new Trace(/** @type {any} */ (api), new Schema(schema), scenario), asked };
}

test('a step comes with its neighbours, and is there once the one before it is', async () => {
  const { trace, asked } = traceOf(9);
  assert.equal(trace.has(0), false);
  await trace.load(5);
  assert.deepEqual(asked, [[4, 6]]);
  assert.deepEqual(
    [3, 4, 5, 6, 7].map((index) => trace.has(index)),
    [false, false, true, true, false],
  );
  await trace.load(6);
  assert.equal(asked.length, 1, 'it is at hand');
  assert.equal(trace.step(5).index, 5);
});

test('who asks for a step that is on its way waits for the same answer', async () => {
  const { trace, asked } = traceOf(9);
  await Promise.all([trace.load(5), trace.load(5), trace.load(2)]);
  assert.deepEqual(asked, [
    [4, 6],
    [1, 3],
  ]);
  assert.ok(trace.has(5) && trace.has(2));
});

test('steps too large to come together come one by one', async () => {
  const { trace, asked } = traceOf(9, 1);
  await trace.load(5);
  assert.deepEqual(asked.slice(1), [
    [5, 5],
    [4, 4],
  ]);
  assert.ok(trace.has(5) && !trace.has(4));
  await trace.load(0);
  assert.deepEqual(asked.slice(3), [
    [0, 1],
    [0, 0],
  ]);
});

test('of many steps those next to the one looked at are kept, with their links', async () => {
  const { trace } = traceOf(100);
  for (let index = 1; index < 100; index += 3) await trace.load(index);
  assert.deepEqual(
    [...trace.steps.keys()].sort((a, b) => a - b),
    Array.from({ length: 24 }, (_, place) => 75 + place),
    'the last one asked for is 97, and 98 came with it',
  );
  const links = trace.links(90);
  assert.equal(trace.links(90), links);
  await trace.load(10);
  assert.ok(trace.has(10) && trace.steps.size === 24);
  assert.ok(!trace.steps.has(98) && trace.steps.has(95), 'the farthest went first');
  assert.equal(trace.links(10).prev?.index, 9);
  for (let index = 1; index < 60; index += 3) await trace.load(index);
  assert.ok(![...trace.linked.values()].includes(links), 'nor are links kept to a step that went');
});

test('links are made anew once the step before is there', async () => {
  const { trace } = traceOf(9);
  await trace.load(5);
  const alone = trace.links(4);
  assert.equal(alone.prev, null);
  await trace.load(3);
  assert.equal(trace.links(4).prev?.index, 3);
});
