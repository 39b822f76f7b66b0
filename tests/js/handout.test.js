// @ts-check
/** Where the handout of what the page shows is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handoutAddress } from '../../static/js/core/address/handout.js';

test('the handout is of the same scenario, step and language', () => {
  assert.equal(handoutAddress('', {}), '/handout');
  assert.equal(
    handoutAddress('', { example: 'a-row-is-recycled', step: 0, lang: 'zh' }),
    '/handout?example=a-row-is-recycled&lang=zh&step=0',
  );
  assert.equal(
    handoutAddress('/pagewalk', { short: 'abc', steps: '1-3', answers: 'both' }),
    '/pagewalk/handout?short=abc&steps=1-3&answers=both',
  );
});

test('a self-contained link stays as it is, what is not there is left out', () => {
  assert.equal(
    handoutAddress('', { s: '1eJw_-~o7bYCA', example: null, lang: '', step: undefined }),
    '/handout?s=1eJw_-~o7bYCA',
  );
});
