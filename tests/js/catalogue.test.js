// @ts-check
/** The two catalogues say the same things, and say everything that the scripts and templates ask for. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
/** @param {string} path @returns {Record<string, string>} */
const catalogue = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const en = catalogue('app/locales/en.json');
const zh = catalogue('app/locales/zh.json');

/** @param {string} folder @param {string} suffix @returns {string[]} */
function sources(folder, suffix) {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(suffix))
    .map((path) => readFileSync(new URL(folder + path, root), 'utf8'));
}

test('both languages have the same keys and the same placeholders', () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  const names = (/** @type {string} */ text) =>
    [...new Set([...text.matchAll(/\{(\w+)(?::[^{}]*)?\}/g)].map(([, name]) => name))].sort();
  for (const key of Object.keys(en)) {
    // "1 token" needs no number, and Chinese has no plural: a twin may leave placeholders out.
    if (key.endsWith('.one')) continue;
    assert.deepEqual(names(zh[key]), names(en[key]), key);
  }
});

test('Chinese is Chinese, English is English', () => {
  const same = new Set([
    'language.locale',
    'language.tag',
    'summary.batch',
    'summary.update.row',
    'summary.all',
    'summary.schedule',
    'dim.flat_token_idx',
    'dim.flat_token_idx_padded',
    'dim.logit_idx',
    'elements.flat_token_idx',
    'find.kind.token_id',
    'problem.detail.one',
  ]);
  for (const key of Object.keys(en)) {
    assert.ok(!/[\u4e00-\u9fff]/.test(en[key]), `${key}: ${en[key]}`);
    if (!same.has(key) && /[a-z]/.test(en[key].replace(/\{\w+(?::[^{}]*)?\}/g, '')))
      assert.ok(/[\u4e00-\u9fff]/.test(zh[key]), `${key}: ${zh[key]}`);
  }
});

test('every message that is asked for exists', () => {
  const asked = new Set();
  for (const source of sources('static/js/', '.js'))
    for (const [, key] of source.matchAll(/\bt\(\s*'([\w.-]+)'/g)) asked.add(key);
  for (const source of sources('templates/', '.html'))
    for (const [, key] of source.matchAll(/\bt\(["']([\w.-]+)["']/g)) asked.add(key);
  assert.ok(asked.size > 80);
  assert.deepEqual(
    [...asked].filter((key) => !(key in en)),
    [],
  );
});
