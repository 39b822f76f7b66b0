// @ts-check
/** Contrast of the design tokens, computed in both themes (WCAG 2.2: 4.5 for text, 3 for marks). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('../../static/css/tokens.css', import.meta.url), 'utf8');
/** @type {Record<string, string[]>} */
const tokens = {};
for (const [, name, light, dark] of css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g))
  tokens[name] = [light, dark];

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

test('text is readable on every ground', () =>
  hold(['ink', 'soft', 'faint', 'good', 'bad', ...accents], ['paper', 'raise', 'walk'], 4.5));
test('ink is readable on what is lit and on what is wrong', () => hold(['ink'], ['near', 'bad-fill', 'sunk'], 7));
test('soft and bad are readable where they stand', () => {
  hold(['soft'], ['sunk'], 4.5);
  hold(['bad'], ['bad-fill'], 4.5);
});
test('marks are seen', () => hold(['focus', 'edge', 'pin'], ['paper', 'raise'], 3));
test('twelve requests, each readable on its own fill', () => {
  for (let request = 0; request < 12; request += 1) hold([`c${request}-ink`], [`c${request}`], 4.5);
});

/**
 * How red-blind, green-blind and blue-blind eyes see linear RGB: Machado, Oliveira and Fernandes,
 * "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
 * @type {Record<string, number[][]>}
 */
const EYES = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/**
 * Oklab (Ottosson 2020) of a colour as an eye sees it; 0.02 is about what one can just tell apart.
 * @param {string} hex
 * @param {number[][]} eye
 */
function seen(hex, eye) {
  const rgb = [1, 3, 5].map((at) => {
    const part = parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const [r, g, b] = eye.map((row) => Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {string} a @param {string} b @param {number} theme @param {number[][]} eye */
function distance(a, b, theme, eye) {
  const [one, other] = [seen(tokens[a][theme], eye), seen(tokens[b][theme], eye)];
  return Math.hypot(...one.map((part, at) => part - other[at]));
}

test('twelve requests, told apart by every eye: by fill, and far more so where they share a hatch', () => {
  for (const theme of [0, 1]) {
    for (const [name, eye] of Object.entries(EYES)) {
      for (let a = 0; a < 12; a += 1) {
        for (let b = a + 1; b < 12; b += 1) {
          const shared = a % 6 === b % 6; // six hatches, in turn
          const [fill, ink] = [distance(`c${a}`, `c${b}`, theme, eye), distance(`c${a}-ink`, `c${b}-ink`, theme, eye)];
          assert.ok(
            fill >= (shared ? 0.07 : 0.03),
            `fills ${a} and ${b}, ${name}, ${['light', 'dark'][theme]}: ${fill.toFixed(3)}`,
          );
          assert.ok(!shared || ink >= 0.05, `inks ${a} and ${b}, ${name}, ${['light', 'dark'][theme]}: ${ink.toFixed(3)}`);
        }
      }
    }
  }
});
