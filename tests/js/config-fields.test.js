// @ts-check
/** The config form's fields, read off a description of the format, and what changing them makes of a draft. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as config from '../../static/js/core/scenario/config-fields.js';
import { toDraft } from '../../static/js/core/scenario/edits.js';

const integer = (/** @type {number} */ value, /** @type {number} */ maximum = 100) => ({
  type: 'integer',
  default: value,
  minimum: 1,
  maximum,
});
/** As the server describes the format, in small. */
const schema = {
  properties: {
    title: { type: 'string', default: '', maxLength: 200 },
    description: { type: 'string', default: '' },
    start_step: { type: 'integer', default: 0, minimum: 0, maximum: 2 ** 31 - 1 },
    strict: { type: 'boolean', default: true },
    config: { $ref: '#/$defs/Config', default: {} },
  },
  $defs: {
    Config: {
      properties: {
        max_num_reqs: integer(8),
        max_num_batched_tokens: integer(64),
        max_model_len: integer(128),
        num_blocks: integer(128),
        num_speculative_tokens: integer(0, 16),
        kv_cache_groups: {
          type: 'array',
          items: { $ref: '#/$defs/Group' },
          maxItems: 3,
          default: [{ name: 'full', block_size: 16, sliding_window: null }],
        },
        cudagraph: { $ref: '#/$defs/Graph', default: { mode: 'NONE', capture_sizes: [] } },
        context_parallel: { $ref: '#/$defs/One', default: {} },
        block_pool: { $ref: '#/$defs/One', default: {} },
        kv_cache: { $ref: '#/$defs/One', default: {} },
        new_object: { $ref: '#/$defs/One', default: {} },
        new_number: integer(3),
      },
    },
    Group: {
      properties: {
        name: { type: 'string', default: 'full' },
        block_size: integer(16, 16_384),
        sliding_window: { anyOf: [integer(1), { type: 'null' }], default: null },
      },
    },
    Graph: {
      properties: {
        mode: { type: 'string', enum: ['NONE', 'FULL'], default: 'NONE' },
        capture_sizes: { type: 'array', items: integer(1, 64), default: [] },
      },
    },
    One: { properties: { size: integer(1) } },
  },
};

const draft = toDraft({
  version: 1,
  requests: [{ req_id: 'A', prompt_len: 4, initial: { block_ids: [[1], [2]] } }],
  steps: [{ num_scheduled_tokens: { A: 4 }, new_block_ids: { A: [[3], [4]] } }],
  config: {
    max_num_reqs: 4,
    kv_cache_groups: [
      { name: 'full', block_size: 16 },
      { name: 'window', block_size: 32, sliding_window: 8 },
    ],
  },
});
const bare = toDraft({ version: 1, requests: [], steps: [] });

/** @param {string} key @param {import('../../static/js/core/scenario/edits.js').Scenario} [of] */
function field(key, of = draft) {
  const all = config.sections(schema, of).flatMap(({ fields, groups }) => [...fields, ...(groups ?? []).flat()]);
  return /** @type {config.Field} */ (all.findLast((one) => one.key === key));
}

test('every field that the format has is in a section, with its kind, bounds and default', () => {
  assert.deepEqual(
    config.sections(schema, bare).map(({ name }) => name),
    [
      'limits',
      'kv_cache_groups',
      'speculation',
      'cudagraph',
      'context_parallel',
      'block_pool',
      'kv_cache',
      'new_object',
      'other',
      'about',
    ],
  );
  const { kind, fallback, minimum, maximum } = field('max_num_reqs');
  assert.deepEqual({ kind, fallback, minimum, maximum }, { kind: 'integer', fallback: 8, minimum: 1, maximum: 100 });
  assert.deepEqual([field('cudagraph.mode').kind, field('cudagraph.mode').choices], ['choice', ['NONE', 'FULL']]);
  assert.deepEqual([field('cudagraph.capture_sizes').kind, field('cudagraph.capture_sizes').maximum], ['integers', 64]);
  assert.deepEqual(
    [field('kv_cache_groups.sliding_window').kind, field('kv_cache_groups.sliding_window').isNullable],
    ['integer', true],
  );
  assert.deepEqual(field('kv_cache_groups.block_size').path, ['config', 'kv_cache_groups', 1, 'block_size']);
  assert.equal(field('strict').kind, 'boolean');
});

test('the default is not in the draft, and takes its empty object with it', () => {
  const mode = field('cudagraph.mode');
  const full = config.setField(schema, bare, mode, 'FULL');
  assert.deepEqual(full.config, { cudagraph: { mode: 'FULL' } });
  assert.equal(config.isChanged(full, mode), true);
  assert.deepEqual(config.setField(schema, full, mode, 'NONE'), bare);
  assert.equal(config.valueOf(bare, mode), 'NONE');
  assert.deepEqual(config.setField(schema, draft, field('max_num_reqs'), 8).config, {
    kv_cache_groups: draft.config.kv_cache_groups,
  });
  assert.equal(bare.config, undefined, 'the draft it came from is left alone');
});

test('what is typed and is no number stays, for the server to say so', () => {
  const typed = (/** @type {string} */ key, /** @type {string} */ text) => config.typedValue(field(key), text);
  assert.equal(typed('max_num_reqs', ' 12 '), 12);
  assert.equal(typed('max_num_reqs', '１２'), 12, 'as a Chinese keyboard types it');
  assert.equal(typed('max_num_reqs', 'many'), 'many');
  assert.equal(typed('max_num_reqs', '1.5'), '1.5');
  assert.equal(typed('max_num_reqs', '-3'), -3);
  assert.equal(typed('max_num_reqs', ''), 8, 'nothing is the default');
  for (const none of ['', 'none', 'null', '无']) assert.equal(typed('kv_cache_groups.sliding_window', none), null);
  assert.equal(typed('num_blocks', '65,536'), 65_536, 'as the form shows it');
  assert.equal(typed('num_blocks', '65,5'), '65,5');
  assert.deepEqual(typed('cudagraph.capture_sizes', '1, 2 4;8,x'), [1, 2, 4, 8, 'x']);
  assert.deepEqual(typed('cudagraph.capture_sizes', '[1, 2]'), [1, 2], 'as a list is written');
  assert.deepEqual(typed('cudagraph.capture_sizes', ' '), []);
  assert.equal(typed('title', ' a '), ' a ');
  assert.equal(config.shownValue([1, 2, 'x']), '1, 2, x');
  assert.equal(config.shownValue(null), '');
});

test('groups come and go; named blocks lose the part of a group that goes', () => {
  const three = config.addGroup(schema, draft);
  assert.deepEqual(three.config.kv_cache_groups[2], { name: 'group2', block_size: 32 });
  assert.equal(config.mostGroups(schema), 3);
  const without = config.removeGroup(schema, draft, 0);
  assert.deepEqual(without.config.kv_cache_groups, [{ name: 'window', block_size: 32, sliding_window: 8 }]);
  assert.deepEqual(without.steps[0].new_block_ids, { A: [[4]] });
  assert.deepEqual(without.requests[0].initial.block_ids, [[2]]);
  assert.equal(
    config.removeGroup(schema, draft, 1).config.kv_cache_groups,
    undefined,
    'the one that is left is the default',
  );
  assert.deepEqual(
    config.removeGroup(schema, three, 2).steps[0].new_block_ids,
    { A: [[3], [4]] },
    'lists of another length are left alone',
  );
  assert.deepEqual(
    config.groupsOf(schema, bare).map(({ name }) => name),
    ['full'],
  );
});

test('a field of a group is set in that group alone', () => {
  const next = config.setField(schema, draft, field('kv_cache_groups.sliding_window'), null);
  assert.deepEqual(next.config.kv_cache_groups, [
    { name: 'full', block_size: 16 },
    { name: 'window', block_size: 32 },
  ]);
  const sized = config.setField(schema, bare, field('kv_cache_groups.block_size', bare), 8);
  assert.deepEqual(sized.config, { kv_cache_groups: [{ name: 'full', block_size: 8 }] });
});

test('all back to default leaves no config and one list of blocks', () => {
  const reset = config.resetConfig(schema, draft);
  assert.equal(reset.config, undefined);
  assert.deepEqual(reset.steps[0].new_block_ids, { A: [[3]] });
  assert.equal(config.isConfigChanged(schema, draft), true);
  assert.equal(config.isConfigChanged(schema, reset), false);
  assert.equal(config.isConfigChanged(schema, { ...bare, title: 'x' }), false, 'the title is not config');
});

test('a fault finds its field', () => {
  const at = (/** @type {string} */ key, /** @type {string} */ where) => config.isAt(field(key), { where });
  assert.equal(at('max_num_reqs', '/config/max_num_reqs'), true);
  assert.equal(at('cudagraph.capture_sizes', '/config/cudagraph/capture_sizes/3'), true);
  assert.equal(at('kv_cache_groups.block_size', '/config/kv_cache_groups/0/block_size'), false);
  assert.equal(at('kv_cache_groups.block_size', '/config/kv_cache_groups/1/block_size'), true);
  assert.equal(at('max_num_reqs', '/steps/0'), false);
});

test('a config that is no config does not trip the form', () => {
  for (const odd of [5, 'x', null, [], { kv_cache_groups: 7 }, { cudagraph: 3 }]) {
    const strange = { ...bare, config: /** @type {any} */ (odd) };
    assert.ok(config.sections(schema, strange).length > 5);
    assert.equal(config.setField(schema, strange, field('max_num_reqs'), 4).config.max_num_reqs, 4);
    assert.ok(config.addGroup(schema, strange).config.kv_cache_groups.length > 1);
    assert.equal(config.valueOf(strange, field('cudagraph.mode')), 'NONE');
  }
});
