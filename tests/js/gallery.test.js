// @ts-check
/** What the gallery says of a scenario, what a search finds, and when something was. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, exactly } from '../../static/js/core/ago.js';
import { groupsOf, matches, namesOf, searchOf, sizeOf, sketchOf, textsOf } from '../../static/js/core/gallery.js';

/** @param {string} name @param {string} group */
const example = (name, group) => ({
  name,
  group,
  title: 'seq_lens is not the count',
  description: 'A runs 12.',
  question: 'What is it?',
  answer: '52, at last',
  place: { stage: 'flatten', pin: 'seq_lens.1' },
  size: { requests: 2, steps: 2, groups: 1 },
  sketch: [[1]],
});

test('groups come in the order of their first examples', () => {
  const groups = groupsOf([example('a', 'Rows'), example('b', 'Large'), example('c', 'Rows')]);
  assert.deepEqual(
    groups.map(({ group, examples }) => [group, examples.map(({ name }) => name)]),
    [
      ['Rows', ['a', 'c']],
      ['Large', ['b']],
    ],
  );
});

test('a search finds names as they are spoken, words in any order, and never gives an answer away', () => {
  const texts = textsOf(example('a-row', 'Rows'));
  for (const query of ['seq_lens', 'SEQ lens', 'count seq', 'a-row', 'rows runs', 'what is', ''])
    assert.ok(matches(query, texts), query);
  for (const query of ['52', 'at last', 'seqlens count']) assert.ok(!matches(query, texts), query);
  assert.ok(matches('ｂ', [undefined, 'B']), 'full width is the same letter');
});

test('an example is opened where there is something to see, in the language asked for', () => {
  assert.equal(searchOf(example('a', 'Rows')), '?example=a&stage=flatten&pin=seq_lens.1');
  assert.equal(searchOf({ ...example('a', 'Rows'), place: {} }, 'zh'), '?example=a&lang=zh');
});

test('a sketch is the first 8 requests and 16 steps, and what is typed and no count is nothing', () => {
  const requests = Array.from({ length: 9 }, (_, place) => ({ req_id: `r${place}` }));
  const steps = Array.from({ length: 17 }, () => ({
    num_scheduled_tokens: /** @type {[string, any][]} */ ([
      ['r1', 5],
      ['r2', 'x'],
      ['r3', -1],
    ]),
  }));
  const rows = sketchOf({ version: 1, requests, steps });
  assert.deepEqual(
    [rows.length, ...rows.slice(0, 4).map((row) => [row.length, row[15]])],
    [8, [16, 0], [16, 5], [16, 0], [16, 0]],
  );
  assert.deepEqual(sizeOf({ version: 1, requests, steps, config: { kv_cache_groups: [{}, {}] } }), {
    requests: 9,
    steps: 17,
    groups: 2,
  });
  assert.deepEqual(sizeOf({ version: 1, requests: [], steps: [] }), { requests: 0, steps: 0, groups: 1 });
  assert.equal(namesOf({ version: 1, requests, steps }, ', '), 'r0, r1, r2, r3, …');
});

test('when it was: the largest unit of which one has gone by, in either language', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const cases = /** @type {[number, string, string][]} */ ([
    [0, 'now', '现在'],
    [59_999, 'now', '现在'],
    [minute, '1 minute ago', '1分钟前'],
    [90 * minute, '1 hour ago', '1小时前'],
    [23 * hour, '23 hours ago', '23小时前'],
    [day, 'yesterday', '昨天'],
    [13 * day, 'last week', '上周'],
    [800 * day, '2 years ago', '2年前'],
    [-hour, 'now', '现在'],
  ]);
  for (const [past, english, chinese] of cases)
    assert.deepEqual([ago(-past, 0, 'en'), ago(-past, 0, 'zh')], [english, chinese]);
  assert.equal(ago(NaN, 0, 'en'), '');
  assert.equal(exactly(0, 'en', 'UTC').replaceAll('\u202f', ' '), 'Jan 1, 1970, 12:00 AM');
  assert.equal(exactly(0, 'zh', 'UTC'), '1970年1月1日 00:00');
  assert.deepEqual([exactly(NaN, 'en'), exactly(1e300, 'en')], ['', '']);
});
