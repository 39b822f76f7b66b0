// @ts-check
/** Contrast of the design tokens, computed in both themes (WCAG 2.2: 4.5 for text, 3 for marks). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('../../static/css/tokens.css', import.meta.url), 'utf8');
/** @type {Record<string, string[]>} */
const tokens = {};
for (const [, name, light, dark] of css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)) tokens[name] = [light, dark];

/** @param {string} hex */
function luminance(hex) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param {string} a @param {string} b @param {number} theme */
function contrast(a, b, theme) {
  const [high, low] = [luminance(tokens[a][theme]), luminance(tokens[b][theme])].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

/** @param {string[]} inks @param {string[]} grounds @param {number} least */
function hold(inks, grounds, least) {
  for (const theme of [0, 1]) {
    for (const ink of inks) {
      for (const ground of grounds) {
        const found = contrast(ink, ground, theme);
        assert.ok(found >= least, `${ink} on ${ground}, ${['light', 'dark'][theme]}: ${found.toFixed(2)} < ${least}`);
      }
    }
  }
}

const accents = ['sp-req', 'sp-batch', 'sp-tok', 'sp-pos', 'sp-blk', 'sp-slot'];

test('text is readable on every ground', () => hold(['ink', 'soft', 'faint', 'good', 'bad', ...accents], ['paper', 'raise', 'walk'], 4.5));
test('ink is readable on what is lit and on what is wrong', () => hold(['ink'], ['near', 'bad-fill', 'sunk'], 7));
test('soft and bad are readable where they stand', () => {
  hold(['soft'], ['sunk'], 4.5);
  hold(['bad'], ['bad-fill'], 4.5);
});
test('marks are seen', () => hold(['focus', 'edge', 'pin'], ['paper', 'raise'], 3));
test('twelve requests, each readable on its own fill', () => {
  for (let request = 0; request < 12; request += 1) hold([`c${request}-ink`], [`c${request}`], 4.5);
});
