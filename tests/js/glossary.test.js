// @ts-check
/** Terms: found by any of their names, ordered by theme, and linked where a sentence names one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CODE_TERMS, STATE_TERMS, groupsOf, searchTerms, sentencePieces } from '../../static/js/core/glossary.js';

const en = JSON.parse(readFileSync(new URL('../../app/locales/en.json', import.meta.url), 'utf8'));

/** @param {string} term @param {any} [more] @returns {import('../../static/js/core/glossary.js').Term} */
const make = (term, more = {}) => ({
  term,
  kind: 'concept',
  name: term,
  words: null,
  is_code: false,
  theme: 'blocks',
  definition: 'Something else.',
  confusion: null,
  also: [],
  related: [],
  vllm: null,
  space: null,
  spaces: {},
  ...more,
});

const terms = [
  make('flatten', { kind: 'stage', name: 'Flatten', theme: null }),
  make('req_state_idx', { kind: 'dim', is_code: true, words: 'pool row', theme: null }),
  make('query_start_loc', {
    kind: 'space',
    is_code: true,
    theme: null,
    also: [{ name: 'cu_seqlens_q', whose: 'FlashAttention' }],
    space: { dims: ['batch_boundary'], dtype: 'int32', stage: 'flatten', holds: null, exactness: 'exact' },
  }),
  make('seq_lens', {
    kind: 'space',
    is_code: true,
    theme: null,
    definition: 'How far attention may read.',
    space: { dims: ['batch_idx_padded'], dtype: 'int32', stage: 'flatten', holds: null, exactness: 'exact' },
  }),
  make('num_scheduled_tokens', {
    kind: 'space',
    is_code: true,
    theme: null,
    also: [{ name: 'seq_lens', whose: 'TensorRT-LLM' }],
    space: { dims: ['batch_idx'], dtype: 'int32', stage: 'batch', holds: null, exactness: 'exact' },
  }),
  make('slot'),
  make('slot-bytes', { name: 'bytes per slot', theme: 'memory' }),
];

/** @param {string} text */
const names = (text) => searchTerms(terms, text).map(({ term, via }) => (via ? `${term.term} = ${via.name}` : term.term));

test('terms are found by their names, in code or in words', () => {
  assert.deepEqual(names('query start'), ['query_start_loc']);
  assert.deepEqual(names('QUERY_START_LOC'), ['query_start_loc']);
  assert.deepEqual(names('pool row'), ['req_state_idx']);
  assert.deepEqual(names('slot'), ['slot', 'slot-bytes']);
  assert.deepEqual(names('attention'), ['seq_lens'], 'or by a word of the definition');
  assert.deepEqual(names('  '), []);
  assert.deepEqual(names('zebra'), []);
});

test('what others call a thing leads to it, behind the thing that has that name here', () => {
  assert.deepEqual(names('cu_seqlens'), ['query_start_loc = cu_seqlens_q']);
  assert.deepEqual(names('seq_lens'), ['seq_lens', 'num_scheduled_tokens = seq_lens']);
});

test('concepts by theme, then indices, then the stages with their tensors', () => {
  assert.deepEqual(
    groupsOf(terms).map(({ key, terms: members }) => [key, ...members.map(({ term }) => term)]),
    [
      ['terms.theme.blocks', 'slot'],
      ['terms.theme.memory', 'slot-bytes'],
      ['terms.group.dim', 'req_state_idx'],
      ['stage.flatten', 'flatten', 'query_start_loc', 'seq_lens'],
      ['stage.batch', 'num_scheduled_tokens'],
    ],
  );
});

test('code names in a sentence are code, and links where they are terms', () => {
  const pieces = sentencePieces('Not seq_lens[0]: it is num_tokens.', (name) => name === 'seq_lens');
  assert.deepEqual(pieces, [
    { text: 'Not ', kind: 'text' },
    { text: 'seq_lens', kind: 'term' },
    { text: '[0]: it is ', kind: 'text' },
    { text: 'num_tokens', kind: 'code' },
    { text: '.', kind: 'text' },
  ]);
  assert.deepEqual(
    sentencePieces('块号是 block_tables 的值', () => true).map(({ kind }) => kind),
    ['text', 'term', 'text'],
  );
});

test('every term that the scripts name by themselves is one', () => {
  const named = [...CODE_TERMS, ...Object.values(STATE_TERMS), 'walk', 'slot-bytes', 'null-block'];
  assert.deepEqual(
    named.filter((name) => !(`glossary.${name}.definition` in en)),
    [],
  );
});

test('two Chinese characters are looked for inside definitions, two letters are not', () => {
  const term = make('walk', { definition: '像页表一样逐级查找, as a page table' });
  const found = (/** @type {string} */ text) => searchTerms([term], text).length;
  assert.deepEqual([found('页表'), found('页'), found('as'), found('table')], [1, 0, 0, 1]);
});
