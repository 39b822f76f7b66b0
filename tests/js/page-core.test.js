// @ts-check
/** What the page keeps in its address, steps through and says, without a page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from '../../static/js/core/address/address.js';
import { groupDigits, runs, translator } from '../../static/js/core/i18n.js';
import { COLOURS, HATCHES, identities, seen } from '../../static/js/core/identity.js';
import { elide, inSight, scrollTo, visible } from '../../static/js/core/viewport.js';

test('an address is read forgivingly and written back the same', () => {
  const read = parseAddress('?pin=slot_mappings.0.0&stage=batch&step=1&utm=x');
  assert.deepEqual([read.step, read.stage, read.pin, read.ignored], [1, 'batch', 'slot_mappings.0.0', []]);
  assert.equal(formatAddress(read), '?step=1&stage=batch&pin=slot_mappings.0.0&utm=x');
  const isLanguage = (/** @type {string} */ code) => ['en', 'zh'].includes(code);
  const bad = parseAddress('?step=1.5&stage=No&pin=..&lang=de&draft=%2F..&example=%00&step=2', { isLanguage });
  assert.deepEqual(bad.ignored.sort(), ['draft', 'example', 'lang', 'pin', 'stage', 'step']);
  assert.deepEqual([parseAddress('?lang=de').lang, parseAddress('?lang=../').lang], ['de', null], 'de could be one');
  assert.equal(parseAddress('?step=-1').step, -1); // there is no such step: the page says which is the nearest
  assert.equal(formatAddress({}), '');
});

test('messages fill in their numbers', () => {
  const t = translator({ hello: '{n} tokens of {who}', 'hello.one': '1 token of {who}' });
  assert.equal(t('hello', { n: 12345, who: 'A' }), '12,345 tokens of A');
  assert.equal(t('hello', { n: 1, who: 'A' }), '1 token of A');
  assert.equal(t('hello', { n: NaN }), '? tokens of {who}');
  assert.equal(t('missing'), 'missing');
});

test('a name that can turn the order keeps that to itself', () => {
  // The same in tests/test_i18n.py.
  const t = translator({ text: '{name}, 2' });
  const names = {
    '\u05e9': '\u05e9',
    '\u{1e900}': '\u{1e900}',
    'A\u202eB': 'A\u202eB',
    'A\u200f': 'A\u200f',
    'A\u2069B': 'A\\u2069B',
    '\u2067A': '\\u2067A',
    '\u2066A\u2069': '\u2066A\u2069',
    '\u2069\u2068\u202e\u2067A\u2069': '\\u2069\\u2068\u202e\u2067A\u2069',
  };
  for (const [name, shown] of Object.entries(names)) assert.equal(t('text', { name }), `\u2068${shown}\u2069, 2`);
  for (const name of ['A', '名 1', '😀']) assert.equal(t('text', { name }), `${name}, 2`);
});

test('numbers in words', () => {
  assert.equal(groupDigits(847872), '847,872');
  assert.equal(groupDigits(2016), '2016');
  assert.equal(groupDigits(-1234567), '-1,234,567');
  const t = translator({ 'list.separator': '、' });
  assert.equal(runs([207, 704, 705, 706, 711], t), '207、704–706、711');
  assert.equal(runs([1, 3, 5, 7, 9], t), '1、3、5、7、…');
  assert.equal(runs([], t), '');
});

test('no two requests look the same, and single letters are kept', () => {
  const all = identities([
    { req_id: 'chat-1' },
    { req_id: 'A' },
    { req_id: '请' },
    ...Array.from({ length: 60 }, (_, i) => ({ req_id: `r${i}` })),
  ]);
  assert.equal(all.get('A')?.letter, 'A');
  assert.equal(all.get('请')?.letter, '请');
  assert.equal(all.get('chat-1')?.letter, 'B');
  const looks = [...all.values()].map(({ letter, colour, hatch }) => `${letter}${colour}${hatch}`);
  assert.equal(new Set(looks).size, looks.length);
  assert.equal(new Set([...all.values()].slice(0, COLOURS).map(({ colour }) => colour)).size, COLOURS);
  const [first, , , , , , , , , , , , again] = [...all.values()];
  assert.equal(first.colour, again.colour);
  assert.notEqual(first.hatch % HATCHES, again.hatch % HATCHES);
});

test('a name of blanks can be seen', () => {
  // The same in tests/web/test_identity.py.
  const names = {
    ' ': '␣',
    '\u00a0': '␣',
    '\u200b\u200b': '␣␣',
    ' A': '␣A',
    'A\t': 'A␣',
    'a b': 'a b',
    '\u2800': '␣',
    '👩\u200d🚀': '👩\u200d🚀',
    10: '10',
  };
  for (const [name, shown] of Object.entries(names)) assert.equal(seen(name), shown);
  assert.equal(identities([{ req_id: ' ' }]).get(' ')?.letter, '␣');
});

test('only what is in sight is drawn', () => {
  const view = visible({ scroll: 5000, extent: 500, size: 50, count: 16384, spare: 4 });
  assert.deepEqual([view.first, view.last], [96, 114]);
  assert.equal(view.before + (view.last - view.first) * 50 + view.after, 16384 * 50);
  assert.deepEqual(visible({ scroll: 0, extent: 500, size: 50, count: 0 }), { first: 0, last: 0, before: 0, after: 0 });
  assert.equal(visible({ scroll: 1e9, extent: 500, size: 50, count: 10 }).last, 10);
  assert.equal(scrollTo({ scroll: 0, extent: 500, size: 50, index: 3 }), 0);
  assert.equal(scrollTo({ scroll: 0, extent: 500, size: 50, index: 20 }), 600);
  assert.equal(scrollTo({ scroll: 1000, extent: 500, size: 50, index: 0 }), 0);
  assert.equal(scrollTo({ scroll: 1000, extent: 500, size: 50, index: 20 }), 950, 'the one before it is in sight too');
  assert.equal(scrollTo({ scroll: 0, extent: 60, size: 50, index: 1 }), 45, 'where there is room: 50 - (60 - 50) / 2');
  assert.equal(
    visible({ scroll: 0, extent: 0, size: 50, count: 9, spare: 0 }).last,
    1,
    'never none, before there is a size',
  );
  assert.deepEqual(inSight({ scroll: 30, extent: 130, size: 26, count: 256 }), { first: 2, last: 5 }, 'whole rows only');
  assert.equal(inSight({ scroll: 0, extent: 130, size: 26, count: 5 }), null);
  assert.equal(inSight({ scroll: 0, extent: 129, size: 26, count: 5 }), null, 'a rounded pixel hides none');
});

test('a long list shows its ends, what must be seen, and says what it leaves out', () => {
  assert.deepEqual(elide(3, 8), [{ index: 0 }, { index: 1 }, { index: 2 }]);
  assert.deepEqual(elide(20, 6, [9]), [
    { index: 0 },
    { index: 1 },
    { from: 2, to: 8 },
    { index: 9 },
    { from: 10, to: 16 },
    { index: 17 },
    { index: 18 },
    { index: 19 },
  ]);
  assert.deepEqual(
    elide(7, 6, [2]),
    [0, 1, 2, 3, 4, 5, 6].map((index) => ({ index })),
    'a gap of one is no gap',
  );
});

test('a few entries more than are in sight are drawn at each end, so that scrolling finds them there', () => {
  // entries 10 to 19 are in sight; 6 more on either side
  assert.deepEqual(visible({ scroll: 100, extent: 100, size: 10, count: 100 }), {
    first: 4,
    last: 26,
    before: 40,
    after: 740,
  });
  assert.deepEqual(visible({ scroll: 100, extent: 100, size: 10, count: 100, spare: 0 }), {
    ...{ first: 10, last: 20 },
    ...{ before: 100, after: 800 },
  });
});
