// @ts-check
/**
 * No word of the page is written where it is drawn: every sentence, label and title of templates and scripts comes from
 * the catalogues, so that both languages say everything. What is looked at: text and readable attributes of the HTML in
 * `templates/` and in the scripts' lit templates, and what scripts assign as text or label.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
/** Attributes that are read out or shown. */
const READABLE =
  /\s(aria-label|aria-description|aria-roledescription|aria-valuetext|title|placeholder|alt|label)=("[^"]*"|'[^']*'|[^\s>]+)/g;
/** The name of the product, of keys, of units and of formats is the same in every language. */
const SAME = new Set([
  'PageWalk',
  'Shift',
  'Ctrl',
  'Alt',
  'Esc',
  'Enter',
  'Home',
  'End',
  'Tab',
  'vLLM',
  'torch',
  'YAML',
  'JSON',
  'KiB',
  'MiB',
  'GiB',
]);
const WORD = /\p{L}{2,}/gu;

/** @param {string} folder @param {string} suffix @returns {{name: string, text: string}[]} */
function files(folder, suffix) {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(suffix))
    .map((path) => ({ name: folder + path, text: readFileSync(new URL(folder + path, root), 'utf8') }));
}

/**
 * Static parts of the lit templates in a script, a hole where something is filled in.
 * @param {string} source @returns {string[]}
 */
export function litTemplates(source) {
  /** @type {string[]} */
  const found = [];
  for (const match of source.matchAll(/\b(?:html|svg)`/g)) found.push(templateAt(source, match.index + match[0].length));
  return found;
}

/** @param {string} source @param {number} start just behind the opening backtick */
function templateAt(source, start) {
  let text = '';
  for (let at = start; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '`') return text;
    else if (source.startsWith('${', at)) {
      at = endOfHole(source, at + 2);
      text += '\u0000';
    } else text += source[at];
  }
  return text;
}

/** @param {string} source @param {number} start @returns {number} where its closing brace is */
function endOfHole(source, start) {
  let depth = 1;
  for (let at = start; at < source.length; at += 1) {
    const mark = source[at];
    if (mark === "'" || mark === '"') at = source.indexOf(mark, at + 1);
    else if (mark === '`') at = endOfTemplate(source, at + 1);
    else if (mark === '{') depth += 1;
    else if (mark === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return source.length;
}

/** @param {string} source @param {number} start @returns {number} where its closing backtick is */
function endOfTemplate(source, start) {
  for (let at = start; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '`') return at;
    else if (source.startsWith('${', at)) at = endOfHole(source, at + 2);
  }
  return source.length;
}

/** Words that a reader would see or hear. @param {string} markup @returns {string[]} */
export function words(markup) {
  const attributes = [...markup.matchAll(READABLE)].map(([, , value]) => value).join(' ');
  const text = markup
    .replace(/<!--[\s\S]*?-->/g, ' ')
    .replace(/<(script|style|code|kbd)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[a-zA-Z/!][^<>]*>/g, ' ')
    .replace(/&\w+;/g, ' ');
  return (`${text} ${attributes}`.match(WORD) ?? []).filter((word) => !SAME.has(word));
}

/** What scripts put on the page without a template. @param {string} source */
export function assigned(source) {
  const texts = [
    ...source.matchAll(/\.(?:textContent|innerText|title|placeholder|ariaLabel|alt)\s*=\s*(['"`])(.*?)\1/g),
  ].map(([, , text]) => text);
  const labels = [
    ...source.matchAll(/setAttribute\(\s*'(?:aria-label|title|placeholder|alt|aria-valuetext)',\s*(['"`])(.*?)\1/g),
  ].map(([, , text]) => text);
  return [...texts, ...labels]
    .flatMap((text) => text.replace(/\$\{[^}]*\}/g, ' ').match(WORD) ?? [])
    .filter((word) => !SAME.has(word));
}

test('templates say nothing themselves', () => {
  const found = files('templates/', '.html').flatMap(({ name, text }) => {
    const markup = text
      .replace(/\{#[\s\S]*?#\}/g, ' ')
      .replace(/\{%[\s\S]*?%\}/g, ' ')
      .replace(/\{\{[\s\S]*?\}\}/g, '\u0000');
    return words(markup).map((word) => `${name}: ${word}`);
  });
  assert.deepEqual(found, []);
});

test('scripts say nothing themselves', () => {
  const scripts = files('static/js/', '.js');
  assert.ok(scripts.flatMap(({ text }) => litTemplates(text)).length > 60);
  const found = scripts.flatMap(({ name, text }) =>
    [...litTemplates(text).flatMap(words), ...assigned(text)].map((word) => `${name}: ${word}`),
  );
  assert.deepEqual(found, []);
});

test('a word that slips in is found', () => {
  const script =
    'html`<p class="quiet" title=${t(\'a\')}>${list.map((one) => html`<b>${one} tokens</b>`)}</p><button aria-label="Close">×</button>`';
  assert.deepEqual(litTemplates(script).flatMap(words), ['Close', 'tokens']);
  assert.deepEqual(words('<p>PageWalk \u0000 <kbd>Enter</kbd></p><img alt="一张图">'), ['一张图']);
  assert.deepEqual(
    assigned("status.textContent = 'Saved'; box.setAttribute('aria-label', `Row ${n}`); box.title = t('x');"),
    ['Saved', 'Row'],
  );
});
