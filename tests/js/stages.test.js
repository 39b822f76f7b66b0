// @ts-check
/** Stages and spaces are whatever the schema says: here one whose names stand in no file of `static/`. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { parseAddress } from '../../static/js/core/address/address.js';
import { readWish } from '../../static/js/core/address/embedding.js';
import { before } from '../../static/js/core/trace/changes.js';
import { elementsOf } from '../../static/js/core/trace/elements.js';
import { cellState, explain } from '../../static/js/core/trace/explain.js';
import { runsAcross, tablesOf } from '../../static/js/core/trace/layout.js';
import { Links } from '../../static/js/core/trace/links.js';
import { ownerAlong } from '../../static/js/core/trace/owner.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { besideStop, stopAt } from '../../static/js/core/trace/stop-points.js';
import { sentenceAt, stageSentence } from '../../static/js/core/trace/summary.js';
import { Step } from '../../static/js/core/trace/trace.js';
import { Course } from '../../static/js/page/state/course.js';
import { schema as json, steps } from './fixtures/invented.js';

const schema = new Schema(json);
const [first, second] = steps.map((step) => new Step(step));
const links = new Links(schema, {}, second, first);
/** @type {import('../../static/js/core/i18n.js').Translate} */
const t = (key) => key;

test('stages stand in the order of the pipeline, their tiers side by side', () => {
  assert.deepEqual(schema.stageNames, ['order', 'shelve', 'mix', 'hand-back']);
  assert.deepEqual([schema.firstStage, schema.lastStage], ['order', 'hand-back']);
  assert.deepEqual(schema.tiers, [['mix'], ['shelve', 'hand-back']], 'the order has its own place');
  assert.deepEqual(
    schema.stageNames.filter((name) => runsAcross(schema, name)),
    ['mix'],
  );
});

test('a stage has a table for each axis, its lines as they are declared', () => {
  const [mixes, parts] = tablesOf(schema, second, 'mix');
  assert.deepEqual([mixes.axis, mixes.dim, mixes.count, mixes.across], ['mix_idx', 'mix_idx_padded', 4, true]);
  assert.deepEqual(
    mixes.lines.map(({ space, group }) => [space, group]),
    [
      ['mix_of', null],
      ['mixed_ids', 0],
      ['mixed_ids', 1],
    ],
    'each group has lines of its own, after what they share',
  );
  assert.deepEqual([parts.axis, parts.count, parts.across], ['pick_idx', 2, false]);
  assert.deepEqual([parts.lines[0].space, parts.lines[0].list, parts.lines[0].tail], ['mix_parts', true, 'part']);
  const [order] = tablesOf(schema, second, 'order');
  assert.deepEqual(
    order.lines.map(({ space }) => space),
    ['order_counts'],
    'whose an entry is stands in front of it',
  );
  assert.equal(ownerAlong(links, 'order_idx')(1), 'Y');
  assert.equal(ownerAlong(links, 'mix_idx')(1), null);
});

test('what a declaration says of a space is what its line is', () => {
  assert.deepEqual(
    ['order_counts', 'mixed_ids', 'mix_of'].map((name) => schema.isCount(name)),
    [true, false, false],
  );
  assert.deepEqual(
    ['order_counts', 'mixed_ids', 'mix_of'].map((name) => schema.isKey(name)),
    [true, true, false],
  );
  assert.deepEqual([schema.isCount('nothing'), schema.isKey('nothing')], [false, false]);
});

test('a stage is stepped through by what its elements are', () => {
  const mixes = elementsOf(schema, second, 'mix', 1);
  assert.deepEqual([mixes?.axis, mixes?.count], ['mix_idx', 3], 'padding is no element');
  assert.deepEqual([second.entries('mix_idx_padded'), second.entries('nothing')], [4, 0], 'of a group, not the groups');
  assert.deepEqual(mixes?.cell(2), { space: 'mixed_ids', at: [1, 2] });
  assert.deepEqual([mixes?.place({ mix_idx: 2 }), mixes?.place({ mix_idx: 3 }), mixes?.place({})], [2, -1, -1]);
  const shelf = elementsOf(schema, second, 'shelve', 0);
  assert.deepEqual([shelf?.count, shelf?.cell(0).at, shelf?.index(1)], [2, [2], 0], 'the row without a request is none');
  assert.deepEqual([shelf?.place({ req_state_idx: 0 }), shelf?.place({ req_state_idx: 1 })], [1, -1]);
  for (const name of ['hand-back', 'all', 'nothing']) assert.equal(elementsOf(schema, second, name, 0), null);
  assert.equal(elementsOf(schema, new Step({ ...steps[1], num_reqs: 0 }), 'mix', 0), null);
});

test('a list stands for itself by its first entry', () => {
  const listed = structuredClone(json);
  listed.stages[2].elements = { space: 'mix_parts', axis: 'pick_idx' };
  assert.deepEqual(elementsOf(new Schema(listed), second, 'mix', 1)?.cell(1), { space: 'mix_parts', at: [1, 0] });
});

test('what a cell is besides data, its case says; a number that nobody told is unknown', () => {
  const state = (/** @type {number[]} */ at) => cellState(links, 'mixed_ids', at, second.space('mixed_ids')?.get(at) ?? NaN);
  assert.deepEqual([state([0, 2]), state([0, 3]), state([1, 2])], ['', 'padding', 'unknown']);
  assert.equal(explain(links, 'mixed_ids', [0, 3])?.state, 'padding');
  assert.equal(explain(links, 'mix_of', [1])?.state, '');
});

test('each stage says its sentence, in the words that the step brings along', () => {
  assert.equal(stageSentence(second, 'mix', t), '3 mixes of X, Y');
  assert.equal(stageSentence(second, 'shelve', t), '', 'it has nothing to say');
  assert.equal(stageSentence(second, 'all', t), 'summary.all');
  const empty = new Step({ ...steps[1], num_reqs: 0, sentences: { shelve: 'X has row 2' } });
  assert.equal(stageSentence(empty, 'shelve', t), 'X has row 2');
  assert.equal(stageSentence(empty, 'mix', t), 'summary.empty');
  const said = [0, 1, 2].map((index) => sentenceAt({ step: empty, index, stopped: { step: 1 }, t }, 'mix'));
  assert.deepEqual(said, ['summary.empty', 'summary.not_computed', 'summary.not_computed']);
});

test('every stage is a stop and can be asked for', () => {
  const summary = [{ num_tokens: 3 }, { num_tokens: 3 }];
  const range = { first: 0, last: 1 };
  const { stageNames } = schema;
  assert.deepEqual(stopAt(stageNames, summary, range, { step: 1, stage: 'mix' }), { number: 4 + 3, of: 8 });
  assert.deepEqual(besideStop(stageNames, summary, range, { step: 0, stage: 'hand-back' }, 1), { step: 1, stage: 'order' });
  assert.deepEqual(
    stageNames.map((name) => schema.stage(name)?.asks),
    [null, 'picks', 'mixed_ids', null],
  );
});

test('the arrows go through the stages that there are', () => {
  const board = { numSteps: 2, isLoaded: true, has: () => true };
  const course = new Course(/** @type {any} */ (board), schema.stageNames, {
    changed: () => {},
    arrived: () => {},
    refused: () => {},
    missed: () => {},
  });
  const walk = (/** @type {1 | -1} */ by) => {
    const way = [`${course.index} ${course.stage}`];
    for (let place = course.beside(by); place; place = course.beside(by)) {
      course.go(place);
      way.push(`${place.step} ${place.stage}`);
    }
    return way;
  };
  const way = walk(1);
  assert.deepEqual(way, ['0 order', '0 shelve', '0 mix', '0 hand-back', '1 order', '1 shelve', '1 mix', '1 hand-back']);
  assert.deepEqual(walk(-1), way.toReversed());
});

test('an address and a message may name the stages that there are', () => {
  const isView = (/** @type {string} */ name) => schema.isView(name);
  assert.deepEqual(parseAddress('?stage=mix', { isView }).stage, 'mix');
  assert.deepEqual(parseAddress('?stage=all', { isView }).stage, 'all');
  const wrong = parseAddress('?stage=batch', { isView });
  assert.deepEqual([wrong.stage, wrong.ignored], [null, ['stage']]);
  assert.equal(parseAddress('?stage=batch').stage, 'batch', 'it could be one');
  for (const odd of ['Mix', '1', '', 'a b', '<b>']) assert.equal(parseAddress(`?stage=${odd}`).stage, null, odd);
  assert.deepEqual(readWish({ stage: 'mix' }, schema), { stage: 'mix' });
  assert.equal(readWish({ stage: 'batch' }, schema), 'stage is none of order, shelve, mix, hand-back, all');
});

test('what is written back had the value that its row has', () => {
  // weights: row 2 goes from 5 to 7, row 0 stays 4. weights_then: X, in row 2, is to become 9; Y, in row 0, stays 4.
  assert.equal(before(schema, second, first, 'weights', [2]), 5);
  assert.equal(before(schema, second, first, 'weights', [0]), undefined);
  assert.equal(before(schema, second, null, 'weights', [2]), undefined);
  assert.equal(before(schema, second, first, 'weights_then', [0]), 7);
  assert.equal(before(schema, second, first, 'weights_then', [1]), undefined);
  assert.equal(before(schema, second, first, 'picks', [0]), undefined, 'a batch is another one in every step');
});

test('style sheets know no stage', () => {
  const folder = new URL('../../static/css/', import.meta.url);
  const named = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.css'))
    .filter((path) => /\[data-(stage|tier|stage-now)[\^$*~|]?="(?!all")/.test(readFileSync(new URL(path, folder), 'utf8')));
  assert.deepEqual(named, []);
});
