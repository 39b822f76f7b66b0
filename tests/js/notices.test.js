// @ts-check
/** What the page says about itself: one notice of a kind, and what can be tried again from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notices } from '../../static/js/page/state/notices.js';

const said = (/** @type {Notices} */ notices) => notices.all.map(({ kind, message }) => `${kind}: ${message}`);

test('a notice takes the place of the one of its kind, with what can be tried again', () => {
  const notices = new Notices();
  const [first, second] = [() => 1, () => 2];
  notices.say({ kind: 'offline', message: 'no answer' }, first);
  notices.say({ kind: 'step', message: 'no such step' });
  notices.say({ kind: 'offline', message: 'still none' }, second);
  assert.deepEqual(said(notices), ['step: no such step', 'offline: still none']);
  assert.equal(notices.again('offline'), second);
  assert.deepEqual(
    notices.all.map(({ again }) => again),
    [false, true],
  );
  notices.say({ kind: 'offline', message: 'refused' });
  assert.equal(notices.again('offline'), undefined, 'nothing to try again any more');
});

test('what is dropped is gone, and nothing else makes the list another', () => {
  const notices = new Notices();
  notices.sayAll([
    { kind: 'storage', message: 'full' },
    { kind: 'link', message: 'damaged' },
    { kind: 'step', message: 'no such step' },
  ]);
  const before = notices.all;
  notices.drop('offline');
  assert.equal(notices.all, before);
  notices.drop('link', 'step');
  assert.deepEqual(said(notices), ['storage: full']);
});

test('another scenario begins with what is about none', () => {
  const notices = new Notices();
  notices.say({ kind: 'storage', message: 'full' });
  notices.say({ kind: 'offline', message: 'no answer' }, () => 1);
  notices.begin('storage');
  assert.deepEqual(said(notices), ['storage: full']);
  assert.equal(notices.again('offline'), undefined);
});
