// @ts-check
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress, stepRange } from '../../static/js/core/address/address.js';
import { STAGES } from '../../static/js/core/trace/schema.js';
import { embedCode } from '../../static/js/core/address/share.js';
import { besideStop, stopAt } from '../../static/js/core/trace/stop-points.js';
import { fullAddress, readWish } from '../../static/js/core/address/embedding.js';

// Steps 0 and 2 run something, step 1 runs nothing: 8 + 1 + 8 = 17 stops. The schedule stops at step 3, which has no
// summary.
const summary = [{ num_tokens: 47 }, { num_tokens: 0 }, { num_tokens: 9 }];
const range = { first: 0, last: 2 };

test('every stage of every step is a stop, a step that runs nothing is one', () => {
  assert.deepEqual(stopAt(summary, range, { step: 0, stage: 'schedule' }), { number: 1, of: 17 });
  assert.deepEqual(stopAt(summary, range, { step: 0, stage: 'update' }), { number: 8, of: 17 });
  assert.deepEqual(stopAt(summary, range, { step: 1, stage: 'schedule' }), { number: 9, of: 17 });
  assert.deepEqual(stopAt(summary, range, { step: 1, stage: 'kv-cache' }), { number: 9, of: 17 }); // it has no such stage
  assert.deepEqual(stopAt(summary, range, { step: 2, stage: 'flatten' }), { number: 8 + 1 + 4, of: 17 });
  assert.deepEqual(stopAt(summary, range, { step: 2, stage: 'all' }), { number: 10, of: 17 }); // where its step begins
  assert.deepEqual(stopAt(summary, { first: 0, last: 3 }, { step: 3, stage: 'batch' }), { number: 18, of: 18 }); // the pool ran out
  assert.deepEqual(stopAt(summary, { first: 2, last: 2 }, { step: 2, stage: 'batch' }), { number: 3, of: 8 });
  assert.deepEqual(stopAt([], { first: 0, last: 0 }, { step: 0, stage: 'schedule' }), { number: 1, of: 1 });
});

test('from stop to stop and back is the same way', () => {
  /** @type {import('../../static/js/core/trace/stop-points.js').Place} */
  let place = { step: 0, stage: STAGES[0] };
  const way = [place];
  for (let next = besideStop(summary, range, place, 1); next; next = besideStop(summary, range, place, 1))
    way.push((place = next));
  assert.equal(way.length, 17);
  assert.deepEqual(way[8], { step: 1, stage: 'schedule' });
  assert.deepEqual(way[16], { step: 2, stage: 'update' });
  const back = [place];
  for (let next = besideStop(summary, range, place, -1); next; next = besideStop(summary, range, place, -1))
    back.push((place = next));
  assert.deepEqual(back.reverse(), way);
});

test('from a stage that is no stop one gets to the neighbours of its step', () => {
  assert.deepEqual(besideStop(summary, range, { step: 1, stage: 'kv-cache' }, 1), { step: 2, stage: 'schedule' });
  assert.deepEqual(besideStop(summary, range, { step: 1, stage: 'kv-cache' }, -1), { step: 0, stage: 'update' });
  assert.deepEqual(besideStop(summary, range, { step: 0, stage: 'all' }, 1), { step: 0, stage: 'state-pool' });
  assert.equal(besideStop(summary, { first: 1, last: 1 }, { step: 1, stage: 'schedule' }, 1), null);
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

test('a message is obeyed whole or not at all', () => {
  assert.deepEqual(readWish({ step: 1, stage: 'kv-cache', pin: 'slot_mappings.0.3' }), {
    step: 1,
    stage: 'kv-cache',
    pin: { space: 'slot_mappings', at: [0, 3] },
  });
  assert.deepEqual(readWish({ pin: null }), { pin: null });
  assert.deepEqual(readWish({}), {});
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
    assert.equal(typeof readWish(odd), 'string', JSON.stringify(odd));
  }
});

test('the code of a frame cannot be left from inside', () => {
  const code = embedCode('https://example.org/?example=a&view=embed&x="><script>', `A "quoted" <title> & 'more'`);
  assert.equal(
    code,
    '<iframe src="https://example.org/?example=a&amp;view=embed&amp;x=&quot;&gt;&lt;script&gt;" title="A &quot;quoted&quot; &lt;title&gt; &amp; &#39;more&#39;" width="800" height="450" loading="lazy" allow="fullscreen"></iframe>',
  );
});
