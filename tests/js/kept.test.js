// @ts-check
/**
 * What the browser keeps: drafts make room and can be had back, recents are told apart, and full or blocked storage is
 * said.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import * as drafts from '../../static/js/page/state/drafts.js';
import * as recents from '../../static/js/page/state/recents.js';

/** @type {Map<string, string>} */
let kept = new Map();
let room = Infinity;
let isBlocked = false;

globalThis.localStorage = /** @type {any} */ ({
  getItem: (/** @type {string} */ key) => {
    if (isBlocked) throw new DOMException('no', 'SecurityError');
    return kept.get(key) ?? null;
  },
  setItem: (/** @type {string} */ key, /** @type {string} */ text) => {
    if (isBlocked) throw new DOMException('no', 'SecurityError');
    const used = [...kept].reduce((sum, [name, value]) => sum + (name === key ? 0 : value.length), text.length);
    if (used > room) throw new DOMException('full', 'QuotaExceededError');
    kept.set(key, text);
  },
  removeItem: (/** @type {string} */ key) => kept.delete(key),
  get length() {
    return kept.size;
  },
});

beforeEach(() => {
  kept = new Map();
  room = Infinity;
  isBlocked = false;
});

/** @param {string} title */
const scenario = (title) => ({ version: 1, title, requests: [{ req_id: 'A', prompt_len: 4 }], steps: [{}] });
const ids = () => drafts.drafts().map(({ id }) => id);

test('the one used last comes first, and opening it again does not change when it was changed', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 });
  drafts.keep('a', scenario('A'));
  t.mock.timers.setTime(2000);
  drafts.keep('b', scenario('B'));
  t.mock.timers.setTime(3000);
  drafts.keep('a', scenario('A'));
  assert.deepEqual(
    drafts.drafts().map(({ id, saved, changed }) => [id, saved, changed]),
    [
      ['a', 3000, 1000],
      ['b', 2000, 2000],
    ],
  );
  drafts.keep('a', scenario('A2'));
  assert.equal(drafts.draft('a')?.changed, 3000);
});

test('an edit is kept once it is drawn, and before anyone asks, another draft is edited or the page is left', () => {
  /** @type {(() => void)[]} */
  const frames = [];
  /** @type {Map<string, () => void>} */
  const leaving = new Map();
  globalThis.requestAnimationFrame = (run) => frames.push(() => run(0));
  globalThis.addEventListener = /** @type {any} */ (
    (/** @type {string} */ type, /** @type {() => void} */ run) => leaving.set(type, run)
  );
  globalThis.document = /** @type {any} */ (globalThis);
  /** @type {string[]} */
  const told = [];
  const stored = () =>
    JSON.parse(kept.get(drafts.KEY) ?? '[]').map((/** @type {any} */ one) => [one.id, one.scenario.title]);

  drafts.keepSoon('a', scenario('1'), (how) => told.push(how));
  drafts.keepSoon('a', scenario('2'), (how) => told.push(how));
  assert.deepEqual([stored(), told], [[], []]);
  assert.equal(drafts.draft('a')?.title, '2', 'who asks is told of the edit');
  assert.deepEqual([stored(), told], [[['a', '2']], ['kept']]);

  drafts.keepSoon('a', scenario('3'), () => {});
  drafts.keepSoon('b', scenario('4'), () => {});
  assert.deepEqual(stored(), [['a', '3']], 'the draft that was left');
  leaving.get('pagehide')?.();
  assert.deepEqual(stored(), [
    ['b', '4'],
    ['a', '3'],
  ]);

  room = 10;
  drafts.keepSoon('b', scenario('5'), (how) => told.push(how));
  leaving.get('visibilitychange')?.();
  assert.deepEqual(told, ['kept', 'full']);
  assert.ok(frames.length > 0);
});

test('what another tab kept is read anew', () => {
  drafts.keep('a', scenario('A'));
  assert.deepEqual(ids(), ['a']);
  const theirs = [{ id: 'z', saved: 1, title: 'Z', scenario: scenario('Z') }];
  kept.set(drafts.KEY, JSON.stringify(theirs));
  assert.deepEqual(ids(), ['z']);
  kept.delete(drafts.KEY);
  assert.deepEqual(ids(), []);
});

test('the 25th takes the place of the one not used for longest, which can be had back', () => {
  for (let n = 0; n <= drafts.MOST; n += 1) drafts.keep(`d${n}`, scenario(String(n)));
  assert.equal(drafts.MOST, 24);
  assert.deepEqual([ids().length, ids()[0], ids().includes('d0')], [24, 'd24', false]);
  assert.deepEqual(
    drafts.deleted().map(({ id }) => id),
    ['d0'],
  );
  assert.ok(!drafts.isDeleted('d0'), 'nobody deleted it');
  assert.equal(drafts.restore('d0'), 'kept');
  assert.deepEqual([ids()[0], ids().length, drafts.deleted().map(({ id }) => id)], ['d0', 24, ['d1']]);
});

test('what is deleted comes back where it was, and is deleted no more once it is kept again', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1000 });
  for (const id of ['a', 'b', 'c']) {
    drafts.keep(id, scenario(id));
    t.mock.timers.tick(1000);
  }
  drafts.remove('b');
  assert.deepEqual([ids(), drafts.isDeleted('b')], [['c', 'a'], true]);
  drafts.restore('b');
  assert.deepEqual([ids(), drafts.deleted()], [['c', 'b', 'a'], []]);
  drafts.remove('b');
  drafts.keep('b', scenario('b'));
  assert.deepEqual([ids(), drafts.deleted()], [['b', 'c', 'a'], []]);
  for (let n = 0; n < 12; n += 1) {
    drafts.keep(`x${n}`, scenario('x'));
    drafts.remove(`x${n}`);
  }
  assert.deepEqual([drafts.deleted().length, drafts.deleted()[0].id], [drafts.MOST_DELETED, 'x11']);
});

test('another name is the scenario’s title too; a copy is one of its own', () => {
  drafts.keep('a', scenario('A'));
  drafts.rename('a', 'What if?');
  assert.deepEqual([drafts.draft('a')?.title, drafts.draft('a')?.scenario.title], ['What if?', 'What if?']);
  drafts.duplicate('a', 'What if? (copy)');
  const [copy, first] = drafts.drafts();
  assert.deepEqual([copy.title, first.title, copy.id === first.id], ['What if? (copy)', 'What if?', false]);
});

test('one that was begun and left empty does not take the room of others', () => {
  for (const id of ['a', 'b']) drafts.keep(id, { version: 1, requests: [], steps: [] });
  drafts.keep('named', { version: 1, title: 'Plan', requests: [], steps: [] });
  drafts.keep('c', scenario('C'));
  assert.deepEqual([ids(), drafts.deleted()], [['c', 'named'], []]);
});

test('full storage gives up what was deleted before it refuses to keep anything', () => {
  drafts.keep('a', scenario('A'));
  drafts.keep('b', scenario('B'));
  drafts.remove('a');
  room = [...kept.values()].join('').length + 20;
  assert.equal(drafts.keep('c', scenario('C')), 'kept');
  assert.deepEqual([ids(), drafts.deleted()], [['c', 'b'], []]);
  assert.equal(drafts.keep('d', scenario('D'.repeat(500))), 'full');
  assert.deepEqual(ids(), ['c', 'b'], 'the others are still there');
  isBlocked = true;
  assert.deepEqual(
    [drafts.keep('e', scenario('E')), drafts.isBlocked(), drafts.drafts(), drafts.deleted(), recents.recents()],
    ['blocked', true, [], [], []],
  );
  recents.note('?example=a', 'A');
});

test('what was opened lately: once each, the last first, at most 20, and forgotten on demand', () => {
  for (let n = 0; n < 25; n += 1) recents.note(`?example=e${n}`, `E${n}`);
  recents.note('?example=e10', 'E10, again');
  const list = recents.recents();
  assert.deepEqual(
    [list.length, list[0].title, list.filter(({ search }) => search === '?example=e10').length],
    [20, 'E10, again', 1],
  );
  recents.forget('?example=e10');
  assert.equal(recents.recents()[0].search, '?example=e24');
  recents.note(`?s=${'x'.repeat(40_000)}`, 'too long to keep beside drafts');
  assert.equal(recents.recents()[0].search, '?example=e24');
  recents.forget(null);
  assert.deepEqual([recents.recents(), kept.has(recents.KEY)], [[], false]);
});

test('what somebody else wrote there is left out', () => {
  kept.set(
    recents.KEY,
    JSON.stringify([
      null,
      { search: 'javascript:x', title: 'x', opened: 1 },
      { search: '?example=a', title: 5, opened: 1 },
      { search: '?example=a', title: 'A', opened: 1 },
    ]),
  );
  assert.deepEqual(
    recents.recents().map(({ title }) => title),
    ['A'],
  );
  kept.set(recents.KEY, '{"no": "list"}');
  assert.deepEqual(recents.recents(), []);
  kept.set(drafts.DELETED, '[5, {"id": "a", "scenario": {}}]');
  assert.deepEqual(drafts.deleted(), []);
});
