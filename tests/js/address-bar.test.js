// @ts-check
/** The address in the bar: one entry for each scenario, never more writes than a browser takes, the last never lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressBar } from '../../static/js/page/address/address-bar.js';

/**
 * A browser with a clock that stands until it is moved.
 * @param {string} search
 * @param {{navigation?: string, stored?: Map<string, string>}} [more]
 */
function browser(search, { navigation = 'navigate', stored = new Map() } = {}) {
  const location = { pathname: '/', search };
  const entries = [search];
  /** @type {[number, () => void][]} */
  let timers = [];
  const clock = { now: 0 };
  let writes = 0;
  const set = (/** @type {string} */ url) => {
    writes += 1;
    [, location.pathname, location.search] = /** @type {string[]} */ (/^([^?]*)(.*)$/.exec(url));
  };
  /** @type {any} */
  const host = {
    location,
    history: {
      state: null,
      replaceState: (/** @type {any} */ _, /** @type {any} */ __, /** @type {string} */ url) => {
        set(url);
        entries[entries.length - 1] = location.search;
      },
      pushState: (/** @type {any} */ _, /** @type {any} */ __, /** @type {string} */ url) => {
        set(url);
        entries.push(location.search);
      },
    },
    sessionStorage: {
      getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ text) => stored.set(key, text),
      removeItem: (/** @type {string} */ key) => stored.delete(key),
    },
    performance: { now: () => clock.now, getEntriesByType: () => [{ type: navigation }] },
    setTimeout: (/** @type {() => void} */ run, /** @type {number} */ ms) => timers.push([clock.now + ms, run]),
  };
  /** @param {number} ms */
  const pass = (ms) => {
    clock.now += ms;
    const due = timers.filter(([at]) => at <= clock.now);
    timers = timers.filter(([at]) => at > clock.now);
    for (const [, run] of due) run();
  };
  return { host, entries, stored, pass, numWrites: () => writes };
}

const A = /** @type {const} */ ({ kind: 'link', name: 'A' });
const B = /** @type {const} */ ({ kind: 'draft', name: 'B' });

test('another place takes the entry over, another scenario is a new one', () => {
  const { host, entries } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  bar.write('?s=A&step=1', A);
  bar.write('?draft=B', B);
  bar.write('?s=BB&draft=B', B);
  assert.deepEqual(entries, ['?s=A&step=1', '?s=BB&draft=B']);
});

test('what comes too fast is written a moment later, the last of it, within what browsers take', () => {
  const { host, entries, pass, numWrites, stored } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  for (let step = 0; step < 1_500; step += 1) {
    bar.write(`?s=A&step=${step}`, A);
    pass(20);
  }
  assert.ok(numWrites() <= 95, String(numWrites()));
  assert.ok(numWrites() > 60, String(numWrites()));
  pass(400);
  assert.deepEqual([entries, stored.size], [['?s=A&step=1499'], 0]);
});

test('a new scenario finds the last place of the one before in its entry', () => {
  const { host, entries } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  for (let step = 0; step < 30; step += 1) bar.write(`?s=A&step=${step}`, A);
  assert.equal(host.location.search, '?s=A&step=19');
  bar.write('?draft=B', B);
  assert.equal(entries[0], '?s=A&step=29');
});

test('a page that is loaded anew before the bar caught up goes on where it was', () => {
  const { host, stored } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  for (let step = 0; step < 30; step += 1) bar.write(`?s=A&step=${step}`, A);
  const again = browser('?s=A&step=19', { navigation: 'reload', stored: new Map(stored) });
  assert.equal(new AddressBar(again.host).url, '/?s=A&step=29');
  for (const [search, navigation] of [
    ['?s=A&step=19', 'navigate'],
    ['?s=C', 'reload'],
  ]) {
    const other = browser(search, { navigation, stored: new Map(stored) });
    assert.equal(new AddressBar(other.host).url, `/${search}`);
    assert.equal(other.stored.size, 0);
  }
  stored.set('pagewalk.address', '{');
  assert.equal(new AddressBar(browser('?s=A', { navigation: 'reload', stored }).host).url, '/?s=A');
});

test('a reload that began before the last write goes on where the page was left', () => {
  const { host, stored } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  bar.write('?s=A&step=1', A);
  bar.write('?s=A&step=2', A); // the browser has begun to load the one before
  bar.leave('?s=A&step=2', A);
  const opened = (/** @type {string} */ search, /** @type {string} */ navigation) =>
    new AddressBar(browser(search, { navigation, stored: new Map(stored) }).host).url;
  assert.equal(opened('?s=A&step=1', 'reload'), '/?s=A&step=2');
  assert.equal(opened('?s=A', 'reload'), '/?s=A&step=2');
  assert.equal(opened('?s=A&step=1', 'back_forward'), '/?s=A&step=1', 'another entry');
  assert.equal(opened('?s=A&step=1', 'navigate'), '/?s=A&step=1');
  assert.equal(opened('?s=B', 'reload'), '/?s=B');

  // What was typed while it was left: the address could not be written any more.
  bar.leave('?draft=B', B);
  assert.equal(opened('?s=A&step=2', 'reload'), '/?draft=B');
  assert.equal(opened('?s=A&step=2', 'back_forward'), '/?draft=B');

  // Another place in the history has addresses of its own.
  host.location.search = '?example=x';
  bar.travelled();
  bar.leave('?example=x', { kind: 'example', name: 'x' });
  assert.equal(opened('?s=A&step=1', 'reload'), '/?s=A&step=1');
});

test('what was late for one entry is not written into another', () => {
  const { host, pass } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  for (let step = 0; step < 30; step += 1) bar.write(`?s=A&step=${step}`, A);
  host.location.search = '?example=x';
  assert.equal(bar.travelled(), true);
  assert.equal(bar.travelled(), false, 'only the hash is another');
  pass(10_000);
  assert.equal(host.location.search, '?example=x');
  bar.write('?example=x&step=1', { kind: 'example', name: 'x' });
  assert.equal(host.location.search, '?example=x&step=1');
});

test('an entry that was left a moment too early is put right on return, once', () => {
  const { host } = browser('?s=A');
  const bar = new AddressBar(host);
  bar.adopt(A);
  host.location.search = '?example=x';
  assert.equal(bar.travelled(), true);
  bar.leaveBehind('/?s=A', '?draft=B', B);
  host.location.search = '?s=A';
  assert.equal(bar.travelled(), true);
  assert.deepEqual([host.location.search, bar.url], ['?draft=B', '/?draft=B']);
  host.location.search = '?s=A'; // another entry of the same address
  assert.equal(bar.travelled(), true);
  assert.equal(host.location.search, '?s=A');
});

test('a short link has a path of its own, and leaving it is leaving that path', () => {
  const { host } = browser('?step=1');
  host.location.pathname = '/s/abc';
  /** @type {string[]} */
  const urls = [];
  host.history.pushState = host.history.replaceState = (
    /** @type {any} */ _,
    /** @type {any} */ __,
    /** @type {string} */ url,
  ) => {
    urls.push(url);
    const [pathname, search] = url.split('?');
    Object.assign(host.location, { pathname, search: search ? `?${search}` : '' });
  };
  const short = /** @type {const} */ ({ kind: 'short', name: 'abc' });
  const bar = new AddressBar(host, ({ kind, name }) => (kind === 'short' ? `/s/${name}` : '/'));
  bar.adopt(short);
  bar.write('?step=1', short);
  bar.write('?step=2', short);
  bar.write('?draft=B', B);
  assert.deepEqual(urls, ['/s/abc?step=2', '/?draft=B']);
});
