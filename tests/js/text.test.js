// @ts-check
/** The scenario as text: what is written, what is read, and where in the text a pointer leads. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { canonical } from '../../static/js/core/scenario/compact.js';
import { toDraft } from '../../static/js/core/scenario/edits.js';
import { MOST_BYTES, notationOf, readText } from '../../static/js/core/text/notation.js';
import { rewritten } from '../../static/js/core/text/rewrite.js';
import { writeScenario } from '../../static/js/core/text/scenario-text.js';
import { documentOf, lineColumn, placeIn } from '../../static/js/core/text/text-tree.js';
import { servedFormat } from './fixtures/served.js';
import { someScenario } from './fixtures/some-scenario.js';

const FORMAT = servedFormat();

/** @typedef {import('../../static/js/core/text/scenario-text.js').Notation} Notation */

/** As the contract writes it. */
const WORKED = `version: 1
title: One decode, one prefill chunk
start_step: 1
requests:
  - {req_id: B, prompt_len: 31}
  - {req_id: A, prompt_len: 24}
steps:
  - {num_scheduled_tokens: {B: 31, A: 16}, new_block_ids: {B: [[37, 12]], A: [[81, 44]]}}
  - {num_scheduled_tokens: {B: 1, A: 8}}
`;

/** @param {string} text @param {Notation} [notation] */
function read(text, notation = 'yaml') {
  const { root, faults } = readText(text, notation);
  assert.deepEqual(faults, []);
  assert.ok(root);
  return { root, draft: toDraft(documentOf(root)) };
}

/** @param {string} text @param {Notation} [notation] */
function fault(text, notation = 'yaml') {
  const { root, faults } = readText(text, notation);
  assert.equal(root, null);
  const { key, from } = faults[0];
  return { key, ...lineColumn(text, from) };
}

test('the worked example is written as the contract writes it', () => {
  const { draft } = read(WORKED);
  assert.equal(writeScenario(FORMAT, draft, 'yaml'), WORKED);
  assert.equal(writeScenario(FORMAT, read(writeScenario(FORMAT, draft, 'json'), 'json').draft, 'yaml'), WORKED);
});

test('what is written reads back as the same scenario, in both notations', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const scenario = toDraft(someScenario(seed));
    for (const notation of /** @type {Notation[]} */ (['yaml', 'json'])) {
      const text = writeScenario(FORMAT, scenario, notation);
      assert.equal(canonical(FORMAT, read(text, notation).draft), canonical(FORMAT, scenario), text);
      assert.equal(writeScenario(FORMAT, read(text, notation).draft, notation), text, 'writing it again changes nothing');
    }
    assert.equal(
      canonical(FORMAT, toDraft(JSON.parse(writeScenario(FORMAT, scenario, 'json')))),
      canonical(FORMAT, scenario),
      'any reader of JSON reads it',
    );
  }
});

test('the order of counts is the text’s, whatever the names look like', () => {
  const { draft } = read('version: 1\nrequests: []\nsteps: [{num_scheduled_tokens: {10: 1, B: 2, 2: 3}}]');
  assert.deepEqual(draft.steps[0].num_scheduled_tokens, [
    ['10', 1],
    ['B', 2],
    ['2', 3],
  ]);
  assert.match(writeScenario(FORMAT, draft, 'yaml'), /\{"10": 1, B: 2, "2": 3\}/);
  assert.match(writeScenario(FORMAT, draft, 'json'), /\[\["10", 1\], \["B", 2\], \["2", 3\]\]/);
});

test('names that could be taken for something else are quoted', () => {
  const names = [
    'yes',
    'No',
    'null',
    '~',
    '1',
    '-1',
    '0x1',
    '1e3',
    '2001-01-01',
    '.5',
    'a: b',
    'a #b',
    '#a',
    '*a',
    '&a',
    '!a',
    '- a',
    '',
    ' a',
    'a ',
    'a,b',
    '[a',
    '{',
    '"',
    "'",
    '<<',
    'é',
    '名',
    '😀',
    '\t',
    '\u2028',
    '\ufeff',
    '\u0085',
    'a\nb',
  ];
  const scenario = toDraft({
    version: 1,
    requests: names.map((req_id) => ({ req_id, prompt_len: 1 })),
    steps: [{ num_scheduled_tokens: names.map((name) => [name, 1]), finished_req_ids: names }],
  });
  assert.equal(canonical(FORMAT, read(writeScenario(FORMAT, scenario, 'yaml')).draft), canonical(FORMAT, scenario));
  assert.match(writeScenario(FORMAT, scenario, 'yaml'), /req_id: "yes"/);
  assert.match(writeScenario(FORMAT, scenario, 'yaml'), /req_id: 名,/);
});

test('long and many-lined texts stay what they are', () => {
  for (const description of [
    'a '.repeat(90).trim(),
    'two\nlines',
    'ends\n',
    'two ends\n\n',
    ' begins',
    'x'.repeat(300),
    'a  b '.repeat(60),
    'tab\tin',
    'line\n\n  indented\nlast',
    'ends with space \nb',
    '# no comment\n- no list',
    '\n',
    'a\r\nb',
  ]) {
    const scenario = toDraft({ version: 1, description, requests: [], steps: [] });
    assert.equal(read(writeScenario(FORMAT, scenario, 'yaml')).draft.description, description);
  }
});

test('a pointer leads to its place', () => {
  const at = (/** @type {string} */ text, /** @type {string} */ where, isKey = false) => {
    const { root } = read(text, notationOf(text));
    const { from, to } = placeIn(root, where, isKey);
    return text.slice(from, to);
  };
  assert.equal(at(WORKED, '/requests/1/prompt_len'), '24');
  assert.equal(at(WORKED, '/requests/1/prompt_len', true), 'prompt_len');
  assert.equal(
    at(WORKED, '/steps/1/num_scheduled_tokens/1/1'),
    '8',
    'counts are pairs in the draft, whatever they are in the text',
  );
  assert.equal(at(WORKED, '/steps/1/num_scheduled_tokens/0/0'), 'B');
  assert.equal(at(WORKED, '/steps/0/new_block_ids/A/0/1'), '44');
  assert.equal(
    at(WORKED, '/steps/1/draft_token_ids/B'),
    '{num_scheduled_tokens: {B: 1, A: 8}}',
    'what is missing is missed in what would hold it',
  );
  assert.equal(
    at('{"version": 1, "steps": [{"num_scheduled_tokens": [["B", 1], ["A", 8]]}]}', '/steps/0/num_scheduled_tokens/1/1'),
    '8',
  );
  assert.equal(at('version: 1\nsteps:\nrequests: []', '/steps'), 'steps', 'an empty value has no place of its own');
  assert.equal(at(WORKED, ''), '', 'the whole text is not underlined');
});

test('JSON that is none says why, at its line', () => {
  const cases = /** @type {[string, string, number, number][]} */ ([
    ['{"a": 1,}', 'fault.bad_json.syntax.trailing_comma', 1, 8],
    ['[1, ]', 'fault.bad_json.syntax.trailing_comma', 1, 3],
    ['{"a" 1}', 'fault.bad_json.syntax.colon', 1, 6],
    ['{\n  a: 1}', 'fault.bad_json.syntax.name', 2, 3],
    ['[1 2]', 'fault.bad_json.syntax.comma', 1, 4],
    ['["a\nb"]', 'fault.bad_json.syntax.unterminated', 1, 2],
    ['["a', 'fault.bad_json.syntax.unterminated', 1, 2],
    ['["\\q"]', 'fault.bad_json.syntax.escape', 1, 3],
    ['["\t"]', 'fault.bad_json.syntax.control_character', 1, 3],
    ['[]\n[]', 'fault.bad_json.syntax.extra', 2, 1],
    ['nul', 'fault.bad_json.syntax.value', 1, 1],
    ['[01]', 'fault.bad_json.syntax.comma', 1, 3],
    ['{"a": 8.0}', 'text.number', 1, 7],
    ['[12345678901234567890]', 'text.number', 1, 2],
    ['{"a": 1, "a": 2}', 'fault.duplicate_key', 1, 10],
    [' ', 'fault.bad_yaml.empty', 1, 1],
    ['['.repeat(80), 'fault.bad_json.depth', 1, 66],
  ]);
  for (const [text, key, line, column] of cases) assert.deepEqual(fault(text, 'json'), { key, line, column }, text);
});

test('YAML is read by the rules of the server', () => {
  /** @type {{text: string, document?: any, fault?: string, line?: number}[]} */
  const table = JSON.parse(readFileSync(new URL('../scenario/yaml_texts.json', import.meta.url), 'utf8'));
  assert.ok(table.length > 50);
  for (const { text, document, fault: expected, line } of table) {
    if (!expected) {
      const { root, faults } = readText(text, 'yaml');
      assert.deepEqual(faults, [], text);
      assert.deepEqual(root && documentOf(root), document, text);
      continue;
    }
    const found = fault(text);
    assert.equal(found.key, `fault.${expected}`, text);
    if (line) assert.equal(found.line, line, text);
  }
});

test('however deep a text is nested, it is refused at the place where it gets too deep', () => {
  const lines = Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
  for (const text of ['['.repeat(5000), '- '.repeat(5000), '{a: '.repeat(5000), `b: 1\na: ${'['.repeat(65)}`, lines])
    assert.equal(fault(text).key, 'fault.bad_yaml.depth', text.slice(0, 20));
  assert.deepEqual(fault('- '.repeat(65) + 'a'), { key: 'fault.bad_yaml.depth', line: 1, column: 129 });
  assert.equal(fault('? '.repeat(5000)).key, 'fault.bad_yaml.key', 'a key that is no text comes before');
  for (const text of [
    '['.repeat(64) + ']'.repeat(64),
    '- '.repeat(64) + 'a',
    `a: "${'['.repeat(5000)}"`,
    `a: |\n  ${'- '.repeat(5000)}`,
  ])
    assert.deepEqual(readText(text, 'yaml').faults, []);
});

test('a tag is named as it was written', () => {
  assert.equal(readText('a: !!int 3', 'yaml').faults[0].params?.name, '!!int');
});

test('a missing bracket is missed at the end of its line', () => {
  assert.deepEqual(fault('version: 1\nsteps:\n  - {num_scheduled_tokens: {A: 1}\n  - {}\n'), {
    key: 'fault.bad_yaml.syntax.bracket',
    line: 3,
    column: 34,
  });
});

test('numbers that are not whole are no numbers of a scenario', () => {
  assert.deepEqual(fault('a: 1\nb: 8.0'), { key: 'text.number', line: 2, column: 4 });
  assert.equal(fault('a: 99999999999999999999').key, 'text.number');
});

test('a line of vLLM’s log is taken for one', () => {
  const line =
    'ERROR [dump_input.py:79] Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs=[], num_scheduled_tokens={a: 1})';
  for (const notation of /** @type {Notation[]} */ (['yaml', 'json']))
    assert.deepEqual(fault(line, notation), { key: 'text.dump', line: 1, column: 72 });
  assert.equal(read(`version: 1\ndescription: "${line}"`).draft.version, 1);
});

test('more than the server reads is said before it is read', () => {
  assert.equal(fault(`a: "${'é'.repeat(MOST_BYTES.yaml / 2)}"`).key, 'text.too_large');
  assert.equal(read(`a: "${'é'.repeat(1000)}"`).draft.a.length, 1000);
});

test('a file says its notation by its name, a text by how it begins', () => {
  assert.deepEqual(
    [
      notationOf('{}', 'a.yml'),
      notationOf('a: 1', 'A.JSON'),
      notationOf(' {"a": 1}'),
      notationOf('[1]'),
      notationOf('a: 1'),
    ],
    ['yaml', 'json', 'json', 'json', 'yaml'],
  );
});

test('a text is brought up to date without losing what else it says', () => {
  const text = `# mine
version: 1
requests:
  - {req_id: A, prompt_len: 24}  # the long one
  - req_id: B
    prompt_len: 31
steps:
  - {num_scheduled_tokens: {A: 24, B: 31}}
  # then
  - {num_scheduled_tokens: {A: 1}} # decode
`;
  const { root, draft } = read(text);
  const to = (/** @type {(draft: any) => void} */ change) => {
    const next = structuredClone(draft);
    change(next);
    const result = rewritten(text, root, next, 'yaml');
    if (result !== null) assert.equal(canonical(FORMAT, read(result).draft), canonical(FORMAT, next), result);
    return result;
  };
  assert.equal(
    to(() => {}),
    text,
  );
  assert.equal(
    to((next) => (next.requests[0].prompt_len = 20)),
    text.replace('prompt_len: 24', 'prompt_len: 20'),
  );
  assert.equal(
    to((next) => (next.requests[1].req_id = 'yes')),
    text.replace('req_id: B', 'req_id: "yes"'),
  );
  assert.equal(
    to((next) => next.steps[1].num_scheduled_tokens.push(['B', 1])),
    text.replace('{A: 1}', '{A: 1, B: 1}'),
  );
  assert.equal(
    to((next) => next.steps[1].num_scheduled_tokens.pop()),
    text.replace('{A: 1}', '{}'),
  );
  assert.equal(
    to((next) => (next.steps[1].finished_req_ids = ['B'])),
    text.replace('{A: 1}}', '{A: 1}, finished_req_ids: [B]}'),
  );
  assert.equal(
    to((next) => next.steps.push({ num_scheduled_tokens: [['B', 1]] })),
    `${text.trimEnd()}\n  - {num_scheduled_tokens: {B: 1}}\n`,
  );
  assert.equal(
    to((next) => next.steps.pop()),
    text.replace(/  # then\n.*\n/, ''),
  );
  assert.equal(
    to((next) => (next.requests[1].initial = {})),
    null,
    'a new line in the middle of others',
  );
  assert.equal(
    to((next) => (next.title = 'x')),
    null,
  );
  const json = writeScenario(FORMAT, draft, 'json');
  const next = structuredClone(draft);
  next.steps[0].num_scheduled_tokens[0][1] = 7;
  assert.equal(rewritten(json, read(json, 'json').root, next, 'json'), json.replace('"A": 24', '"A": 7'));
});
