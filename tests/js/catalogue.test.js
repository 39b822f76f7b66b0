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

/** Numbers that are never 1 where these texts are said, and why. */
const NEVER_ONE = new Map(
  Object.entries({
    'chart.blocks.many': 'a cell of several owners',
    'chart.blocks.size': 'said where a cell stands for more than one',
    'chart.pool.groups': 'said of several groups',
    'config.most_groups': 'the bound of a list',
    'fault.drafts.unfinished_prefill': 'more than are computed',
    'fault.response_too_large.moves': 'too many',
    'fault.rows': 'more than there are rows',
    'fault.sampled.unfinished_chunk': 'more than are reached',
    'fault.schema.given_blocks': 'more than are followed',
    'fault.schema.table_entries': 'too many',
    'fault.schema.window_with_cp': 'said of several ranks',
    'gallery.groups': 'said of several groups',
    'handout.cut.columns': 'more than fit a sheet',
    'handout.cut.pool': 'more than fit a sheet',
    'kv.pool.label': 'the null block is one of them',
    'kv.pool.per': 'said where a square stands for more than one',
    'picture.groups': 'said of several groups',
    'plan.requests': 'more than are in sight',
    'terms.welcome': 'the whole glossary',
  }),
);
/** What the page counts. */
const COUNTED =
  'tokens|requests|blocks|rows|steps|slots|groups|columns|drafts|ranks|heads|cells|words|tables|entries|outputs|ids|terms|logits';

test('one is said as one in English', () => {
  const plural = new RegExp(`\\{(\\w+)\\} (?:[a-z-]+ ){0,2}(?:${COUNTED})\\b`, 'gi');
  const found = [];
  for (const [key, text] of Object.entries(en)) {
    const isTwin = key.endsWith('.one') || en[`${key}.one`] !== undefined;
    for (const [, name] of text.matchAll(plural))
      if (!(isTwin && ['n', 'value'].includes(name)) && !/^(limit|step|first|to|from|req_id|names)$/.test(name))
        found.push(key);
  }
  assert.deepEqual([...new Set(found)].sort(), [...NEVER_ONE.keys()].sort());
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
