// @ts-check
/** What others paste says the title as it is, and leads where it should. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdown } from '../../static/js/core/address/share.js';

const URL = 'https://example.org/?s=1a-b_c~o7bYCA&pin=slot_mappings.0.0';

test('nothing in a title ends the link, or is taken for markup', () => {
  const title = 'a [b](c) ![d] <e> &lt; `f` *g* _h_ ~~i~~ #1 | \\ j\n\nk';
  assert.equal(
    markdown(title, URL),
    `[a \\[b\\](c) \\!\\[d\\] \\<e\\> \\&lt; \\\`f\\\` \\*g\\* \\_h\\_ \\~\\~i\\~\\~ \\#1 \\| \\\\ j k](${URL})`,
  );
});

test('nothing in an address ends the link', () => {
  assert.equal(markdown('t', 'https://example.org/?utm=(a) <b>'), '[t](https://example.org/?utm=%28a%29%20%3Cb%3E)');
});

test('a picture is what one clicks', () => {
  assert.equal(markdown('t', URL, 'https://example.org/og.png?step=1'), `[![t](https://example.org/og.png?step=1)](${URL})`);
});
