// @ts-check
/** The stop points of a talk: which there are, and the ones beside each. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress, stepRange } from '../../static/js/core/address/address.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { embedCode } from '../../static/js/core/address/share.js';
import { besideStop, stopAt } from '../../static/js/core/trace/stop-points.js';
import { fullAddress, readWish } from '../../static/js/core/address/embedding.js';

const STAGES = ['schedule', 'pool', 'batch', 'tokens', 'update'];
// Steps 0 and 2 run something, step 1 runs nothing: 5 + 1 + 5 = 11 stops. The schedule stops at step 3, which has no
// summary.
const summary = [{ num_tokens: 47 }, { num_tokens: 0 }, { num_tokens: 9 }];
const range = { first: 0, last: 2 };

test('every stage of every step is a stop, a step that runs nothing is one', () => {
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 0, stage: 'schedule' }), { number: 1, of: 11 });
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 0, stage: 'update' }), { number: 5, of: 11 });
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 1, stage: 'schedule' }), { number: 6, of: 11 });
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 1, stage: 'tokens' }), { number: 6, of: 11 }); // it has no such stage
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 2, stage: 'tokens' }), { number: 5 + 1 + 4, of: 11 });
  assert.deepEqual(stopAt(STAGES, summary, range, { step: 2, stage: 'all' }), { number: 7, of: 11 }); // where its step begins
  assert.deepEqual(stopAt(STAGES, summary, { first: 0, last: 3 }, { step: 3, stage: 'batch' }), { number: 12, of: 12 }); // the pool ran out
  assert.deepEqual(stopAt(STAGES, summary, { first: 2, last: 2 }, { step: 2, stage: 'batch' }), { number: 3, of: 5 });
  assert.deepEqual(stopAt(STAGES, [], { first: 0, last: 0 }, { step: 0, stage: 'schedule' }), { number: 1, of: 1 });
});

test('from stop to stop and back is the same way', () => {
  /** @type {import('../../static/js/core/trace/stop-points.js').Place} */
  let place = { step: 0, stage: STAGES[0] };
  const way = [place];
  for (let next = besideStop(STAGES, summary, range, place, 1); next; next = besideStop(STAGES, summary, range, place, 1))
    way.push((place = next));
  assert.equal(way.length, 11);
  assert.deepEqual(way[5], { step: 1, stage: 'schedule' });
  assert.deepEqual(way[10], { step: 2, stage: 'update' });
  const back = [place];
  for (let next = besideStop(STAGES, summary, range, place, -1); next; next = besideStop(STAGES, summary, range, place, -1))
    back.push((place = next));
  assert.deepEqual(back.reverse(), way);
});

test('from a stage that is no stop one gets to the neighbours of its step', () => {
  assert.deepEqual(besideStop(STAGES, summary, range, { step: 1, stage: 'tokens' }, 1), { step: 2, stage: 'schedule' });
  assert.deepEqual(besideStop(STAGES, summary, range, { step: 1, stage: 'tokens' }, -1), { step: 0, stage: 'update' });
  assert.deepEqual(besideStop(STAGES, summary, range, { step: 0, stage: 'all' }, 1), { step: 0, stage: 'pool' });
  assert.equal(besideStop(STAGES, summary, { first: 1, last: 1 }, { step: 1, stage: 'schedule' }, 1), null);
});

test('an address names the view and the steps that a frame keeps to', () => {
  const address = parseAddress('?view=embed&steps=1-2&step=1');
  assert.deepEqual([address.view, address.steps, address.ignored, address.rest], ['embed', '1-2', [], []]);
  assert.equal(formatAddress(address), '?step=1&view=embed&steps=1-2');
  assert.deepEqual(stepRange('0-0'), { first: 0, last: 0 });
  for (const odd of ['2-1', '1', '1-', '-1', '1-2-3', 'a-b', '1e3-2', '', null, `0-${'9'.repeat(10)}`])
    assert.equal(stepRange(odd), null, String(odd));
  assert.deepEqual(parseAddress('?view=slides&steps=2-1').ignored, ['view', 'steps']);
});

test('the full view is the same place without the frame', () => {
  assert.equal(
    fullAddress('?example=a&step=1&stage=batch&pin=idx_mapping.0&view=embed&steps=0-1&lang=zh'),
    '?example=a&step=1&stage=batch&pin=idx_mapping.0&lang=zh',
  );
});

const schema = new Schema({
  version: 1,
  stages: STAGES.map((name) => ({ name, tier: null, elements: null, asks: null })),
  axes: {},
  spaces: {},
  coordinates: [],
  walk: [],
});

test('a message is obeyed whole or not at all', () => {
  assert.deepEqual(readWish({ step: 1, stage: 'tokens', pin: 'slot_mappings.0.3' }, schema), {
    step: 1,
    stage: 'tokens',
    pin: { space: 'slot_mappings', at: [0, 3] },
  });
  assert.deepEqual(readWish({ pin: null }, schema), { pin: null });
  assert.deepEqual(readWish({}, schema), {});
  for (const odd of [
    { step: '1' },
    { step: 1.5 },
    { step: NaN },
    { step: null },
    { stage: 'x' },
    { stage: ['batch'] },
    { pin: 'x' },
    { pin: 3 },
    { pin: `idx_mapping${'.0'.repeat(9)}` },
    { pin: `${'a'.repeat(65)}.0` },
    { step: 0, pin: '<b>' },
  ]) {
    assert.equal(typeof readWish(odd, schema), 'string', JSON.stringify(odd));
  }
});

test('the code of a frame cannot be left from inside', () => {
  const code = embedCode('https://example.org/?example=a&view=embed&x="><script>', `A "quoted" <title> & 'more'`);
  assert.equal(
    code,
    '<iframe src="https://example.org/?example=a&amp;view=embed&amp;x=&quot;&gt;&lt;script&gt;" title="A &quot;quoted&quot; &lt;title&gt; &amp; &#39;more&#39;" width="800" height="450" loading="lazy" allow="fullscreen"></iframe>',
  );
});
