// @ts-check
/** Figures in the page's colours: identities are the board's, numbers stay what they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dressed, markerOf, stepMark, TOKENS } from '../../static/js/core/chart-style.js';
import { identities } from '../../static/js/core/identity.js';

const colours = Object.fromEntries(TOKENS.map((name, index) => [name, `rgb(${index}, ${index}, ${index})`]));
const dress = { colours, sans: 'sans', mono: 'mono', identities: identities([{ req_id: 'B' }, { req_id: 'long name' }, { req_id: '<' }]), step: 1, width: 400 };

/** @param {any} trace @param {any} [layout] */
const dress1 = (trace, layout = {}) => dressed({ data: [trace], layout }, dress).data[0];

test('a request looks as on the board: letter, hatch and colour', () => {
  const own = (/** @type {string} */ req_id) => dress1({ type: 'bar', meta: { role: 'owner', req_id }, text: ['', '+1'], x: [2, 1], y: [0, 1] });
  const first = own('B');
  assert.deepEqual(first.text, ['B', 'B+1']);
  assert.equal(first.marker.color, colours.c0);
  assert.equal(first.insidetextfont.color, colours['c0-ink']);
  assert.deepEqual(own('long name').text, ['A', 'A+1']);
  assert.notEqual(own('long name').marker.pattern.shape, first.marker.pattern.shape);
  assert.deepEqual(own('<').text, ['&lt;', '&lt;+1']);
  assert.deepEqual([first.x, first.y], [[2, 1], [0, 1]]);
});

test('stale blocks name their last owner, whoever it was', () => {
  const stale = dress1({ type: 'bar', meta: { role: 'stale', last_owners: ['long name', 'gone'] }, x: [1, 1], y: [0, 1], text: ['', ''] });
  assert.deepEqual(stale.text, ['A', '']);
});

test('a map takes the colours of its owners and leaves blanks blank', () => {
  const map = dress1({ type: 'heatmap', z: [[-3, 0, null, 13, -1]], meta: { role: 'owners', owners: [[0, 'B'], [13, 'gone']], kinds: [[-1, 'free'], [-3, 'null']] } });
  const [nobody, first, blank, other, free] = map.z[0];
  assert.equal(blank, null);
  assert.equal(free, 0);
  assert.equal(first, 4);
  assert.equal(other, 4 + 1); // not in the schedule on screen: its place decides, 13 mod 12
  assert.notEqual(nobody, free);
  assert.equal(map.colorscale.length, 2 * (4 + 12));
});

test('marks of different kinds differ by more than colour', () => {
  const looks = ['prefill', 'decode', 'draft', 'padding'].map((role) => {
    const marker = markerOf(role, colours);
    return `${marker.color} ${marker.pattern?.shape ?? 'plain'}`;
  });
  assert.equal(new Set(looks).size, looks.length);
});

test('the step on screen is marked across the figure', () => {
  const { layout } = dressed({ data: [], layout: { xaxis: { title: { text: 'step' } }, yaxis2: {}, annotations: [{ text: 'tokens' }] } }, dress);
  assert.deepEqual(layout.shapes, stepMark(1, colours));
  assert.ok(layout.shapes.every((/** @type {any} */ shape) => shape.x0 === 0.5 && shape.x1 === 1.5));
  assert.equal(layout.xaxis.title.text, 'step');
  assert.equal(layout.annotations[0].text, 'tokens');
  assert.equal(layout.width, 400);
});
