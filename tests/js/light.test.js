// @ts-check
/** How strongly a cell is lit that is several things at once to the cell looked at. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIT, Links } from '../../static/js/core/trace/links.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { Step } from '../../static/js/core/trace/trace.js';

/** What a space of one cell is made of: formula, and what orders it. @type {Record<string, {of: string[], by?: string[]}>} */
const MADE = {
  self: { of: ['self', 'input', 'loop'], by: ['self', 'order', 'output', 'beyond'] },
  input: { of: ['before'] },
  before: { of: [] },
  loop: { of: ['self'] },
  output: { of: ['self'] },
  beyond: { of: ['output'] },
  order: { of: ['order_before', 'before'] },
  order_before: { of: [] },
  other: { of: ['order'] },
};

const schema = new Schema({
  version: 1,
  stages: [{ name: 'all', tier: 0, elements: null, asks: null }],
  axes: { i: { axis: 'i', across: false, tag: null } },
  spaces: Object.fromEntries(
    Object.entries(MADE).map(([name, { of, by = [] }]) => [
      name,
      {
        stage: 'all',
        dims: ['i'],
        dtype: 'int32',
        kind: 'count',
        holds: null,
        exactness: 'exact',
        is_key: false,
        is_detail: false,
        is_own: false,
        source: null,
        vllm: null,
        cases: [
          {
            when: null,
            formula: ['max', 0, ...of.map((read) => ['@', read, 'i'])],
            note: 'made',
            state: 'data',
            inputs: [],
            control: by.map((read) => ['@', read, 'i']),
          },
        ],
      },
    ]),
  ),
  coordinates: [],
  walk: [],
});
const step = new Step(
  /** @type {any} */ ({
    index: 0,
    num_reqs: 1,
    num_tokens: 1,
    num_reqs_padded: 1,
    num_tokens_padded: 1,
    cudagraph_mode: 'NONE',
    req_ids: ['A'],
    req_id_to_index: { A: 0 },
    free_indices: [],
    events: [],
    checks: [],
    sentences: {},
    spaces: Object.fromEntries(Object.keys(MADE).map((name) => [name, { dims: ['i'], dtype: 'int32', values: [0] }])),
  }),
);

/** @param {boolean} withControl */
const light = (withControl) => {
  const links = new Links(schema, {}, step, null);
  const lit = links.light('self', 0, withControl);
  const level = new Map(Object.entries(LIT).map(([name, value]) => [value, name]));
  return Object.fromEntries(Object.keys(MADE).map((name) => [name, level.get(lit[links.id(name, 0)])]));
};

test('the strongest of what a cell is to another one counts', () => {
  assert.deepEqual(light(true), {
    self: 'self', // though it reads, feeds and orders itself
    input: 'input',
    before: 'walk',
    loop: 'input', // an output too
    output: 'output', // though it orders it as well
    beyond: 'walk', // what follows from it further on, and orders it: what orders is weakest
    order: 'control',
    order_before: 'control',
    other: 'none', // made of what orders it, not the other way round
  });
});

test('what a cell is made of is not what orders it', () => {
  const links = new Links(schema, {}, step, null);
  const names = [...links.ordering('self', 0)].map((id) => links.cellOf(id).space.name);
  assert.deepEqual(names.sort(), ['beyond', 'order', 'order_before', 'output']);
  assert.deepEqual([...links.ordering('other', 0)], []);
});

test('what orders a cell is lit only where that is asked for', () => {
  const { order, order_before, ...others } = light(true);
  assert.deepEqual([order, order_before], ['control', 'control']);
  assert.deepEqual(light(false), { ...others, order: 'none', order_before: 'none' });
});
