// @ts-check
/** Figures in the page's colours: identities are the board's, numbers stay what they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dressed, markerOf, stepMark, TOKENS } from '../../static/js/core/chart-style.js';
import { identities } from '../../static/js/core/identity.js';

const colours = Object.fromEntries(TOKENS.map((name, index) => [name, `rgb(${index}, ${index}, ${index})`]));
const dress = {
  colours,
  sans: 'sans',
  mono: 'mono',
  identities: identities([{ req_id: 'B' }, { req_id: 'long name' }, { req_id: '<' }]),
  step: 1,
  width: 400,
};

const layout = {
  margin: { l: 50, r: 10 },
  xaxis: { range: [-0.5, 9.5], title: { text: 'step' } },
  yaxis: {},
  yaxis2: {},
  annotations: [{ text: 'tokens' }],
};
/** @param {any} trace */
const dress1 = (trace) => dressed({ data: [trace], layout }, dress).data[0];

test('a request looks as on the board: letter, hatch and colour', () => {
  const own = (/** @type {string} */ req_id) =>
    dress1({ type: 'bar', meta: { role: 'owner', req_id }, text: ['', '+1'], x: [2, 1], y: [0, 1] });
  const first = own('B');
  assert.deepEqual(first.text, ['B', 'B+1']);
  assert.equal(first.marker.color, colours.c0);
  assert.equal(first.insidetextfont.color, colours['c0-ink']);
  assert.deepEqual(own('long name').text, ['A', 'A+1']);
  assert.notEqual(own('long name').marker.pattern.shape, first.marker.pattern.shape);
  assert.deepEqual(own('<').text, ['&lt;', '&lt;+1']);
  assert.deepEqual(
    [first.x, first.y],
    [
      [2, 1],
      [0, 1],
    ],
  );
});

test('stale blocks name their last owner, whoever it was', () => {
  const stale = dress1({
    type: 'bar',
    meta: { role: 'stale', last_owners: ['long name', 'gone'] },
    x: [1, 1],
    y: [0, 1],
    text: ['', ''],
  });
  assert.deepEqual(stale.text, ['A', '']);
});

test('a map takes the colours of its owners and leaves blanks blank', () => {
  const map = dress1({
    type: 'heatmap',
    z: [[-3, 0, null, 13, -1]],
    meta: {
      role: 'owners',
      owners: [
        [0, 'B'],
        [13, 'gone'],
      ],
      kinds: [
        [-1, 'free'],
        [-3, 'null'],
      ],
    },
  });
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

test('the step on screen is marked in each panel', () => {
  const { layout: found } = dressed({ data: [], layout }, dress);
  assert.deepEqual(found.shapes, stepMark(layout, dress));
  assert.deepEqual(
    found.shapes.map((/** @type {any} */ { type, yref, x0, x1 }) => [type, yref, x0, x1]),
    [
      ['rect', 'y domain', 0.5, 1.5],
      ['rect', 'y domain', 0.5, 1.5],
      ['rect', 'y2 domain', 0.5, 1.5],
      ['rect', 'y2 domain', 0.5, 1.5],
    ],
  );
  assert.equal(found.xaxis.title.text, 'step');
  assert.equal(found.annotations[0].text, 'tokens');
  assert.equal(found.width, 400);
});

test('narrow steps touch each other and are marked by a line', () => {
  const narrow = { ...layout, xaxis: { range: [-0.5, 99.5] } };
  const { data, layout: found } = dressed({ data: [{ type: 'bar', meta: { role: 'waste' } }], layout: narrow }, dress);
  assert.equal(data[0].marker.line.width, 0);
  assert.equal(found.bargap, 0);
  assert.deepEqual(
    found.shapes.filter((/** @type {any} */ { type }) => type === 'line').map((/** @type {any} */ { x0, x1 }) => [x0, x1]),
    [
      [1, 1],
      [1, 1],
    ],
  );
});
