// @ts-check
/** Links in the browser; tests/scenario/test_link_twins.py holds them against the server's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { canonical, compact } from '../../static/js/core/scenario/compact.js';
import { LinkError, checksum, decodeLink, encodeLink, plainLink } from '../../static/js/core/address/link.js';
import { LONGEST_IN_CHATS, linkTo } from '../../static/js/core/address/link-to.js';
import { formatAddress, parseAddress } from '../../static/js/core/address/address.js';
import { PresentLink } from '../../static/js/page/address/present-link.js';
import { formatOf } from '../../static/js/core/scenario/format.js';
import { served, servedFormat } from './fixtures/served.js';

const FORMAT = servedFormat();

const WORKED = {
  version: 1,
  title: 'One decode, one prefill chunk',
  start_step: 1,
  requests: [
    { req_id: 'B', prompt_len: 31 },
    { req_id: 'A', prompt_len: 24 },
  ],
  steps: [
    {
      num_scheduled_tokens: [
        ['B', 31],
        ['A', 16],
      ],
      new_block_ids: { B: [[37, 12]], A: [[81, 44]] },
    },
    {
      num_scheduled_tokens: [
        ['B', 1],
        ['A', 8],
      ],
    },
  ],
};
const LINK = await encodeLink(FORMAT, WORKED);
const SMALL = '{"version":1,"requests":[],"steps":[]}';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~';

/** @param {string} text @returns {Promise<[string, Record<string, any>]>} */
async function refusal(text) {
  try {
    await decodeLink(text);
  } catch (error) {
    assert.ok(error instanceof LinkError, String(error));
    return [error.kind, error.params];
  }
  assert.fail(`${text.slice(0, 60)} was taken`);
}

/** @param {Uint8Array} data @param {string} [version] */
function sealed(data, version = '1') {
  const body = version + Buffer.from(data).toString('base64url');
  return `${body}~${checksum(body)}`;
}
const pressed = (/** @type {string} */ text) => deflateRawSync(Buffer.from(text), { level: 9 });

test('the checksum by hand', () => assert.equal(checksum('1abc'), 'o7bYCA'));

test('the worked example is there and back, and short', async () => {
  assert.ok(LINK.length < 260, String(LINK.length));
  assert.match(LINK, /^1[\w-]+~[\w-]{6}$/);
  assert.deepEqual(await decodeLink(LINK), WORKED);
});

test('the compact form: defaults go, what only looks like one stays', () => {
  const spelled = {
    ...WORKED,
    description: '',
    strict: true,
    config: { kv_cache_groups: [{ name: 'full', block_size: 16, sliding_window: null }], cudagraph: { capture_sizes: [] } },
  };
  assert.deepEqual(compact(FORMAT, spelled), WORKED);
  assert.equal(canonical(FORMAT, spelled), canonical(FORMAT, { ...WORKED }));
  assert.deepEqual(compact(FORMAT, { ...WORKED, steps: [{ num_scheduled_tokens: { B: 1 } }] }).steps, [
    { num_scheduled_tokens: [['B', 1]] },
  ]);
  const odd = {
    version: 1,
    title: null,
    strict: 1,
    start_step: '0',
    requests: [{ req_id: 'A', initial: {}, more: [] }],
    steps: [{ num_computed_tokens: { A: 0 }, draft_token_ids: { A: [] }, new_block_ids: [] }],
  };
  assert.deepEqual(compact(FORMAT, odd), odd);
  const proto = JSON.parse('{"version":1,"requests":[],"steps":[{"sampled_token_ids":{"__proto__":2,"10":1}}]}');
  assert.deepEqual(JSON.stringify(compact(FORMAT, proto)), JSON.stringify(proto));
});

test('what a default is, and what has fields of its own, the format says', () => {
  const { format } = served();
  format.$defs.Config.properties.max_num_reqs.default = format.properties.config.default.max_num_reqs = 9;
  format.$defs.Step.properties.marks = {
    type: 'array',
    items: { $ref: '#/$defs/Mark' },
    default: [{ colour: 'red' }],
  };
  format.$defs.Mark = { properties: { colour: { type: 'string', default: 'red' } } };
  const of = (/** @type {any} */ more, /** @type {any} */ step = {}) =>
    compact(formatOf(format), { version: 1, ...more, requests: [], steps: [step] });
  assert.deepEqual(of({ config: { max_num_reqs: 9 } }), of({}));
  assert.deepEqual(of({ config: { max_num_reqs: 8 } }).config, { max_num_reqs: 8 });
  assert.deepEqual(of({}, { marks: [{ colour: 'red' }] }), of({}));
  assert.deepEqual(of({}, { marks: [{ colour: 'red' }, { colour: 'blue' }] }).steps, [{ marks: [{}, { colour: 'blue' }] }]);
});

test('two orders of who runs are two scenarios; other orders of keys are the same', () => {
  const of = (/** @type {any} */ pairs) =>
    canonical(FORMAT, { version: 1, requests: [], steps: [{ num_scheduled_tokens: pairs }] });
  assert.notEqual(
    of([
      ['B', 1],
      ['A', 2],
    ]),
    of([
      ['A', 2],
      ['B', 1],
    ]),
  );
  assert.equal(
    canonical(FORMAT, { requests: [], version: 1, steps: [] }),
    canonical(FORMAT, { steps: [], version: 1, requests: [] }),
  );
});

test('every change of one character is found', async () => {
  for (let at = 0; at < LINK.length; at += 1) {
    const [before, here, after] = [LINK.slice(0, at), LINK[at], LINK.slice(at + 1)];
    for (const character of [...ALPHABET, ' ', ')', '%', 'é']) {
      if (character !== here) await refusal(before + character + after);
      if (ALPHABET.includes(character)) await refusal(before + character + here + after);
    }
    await refusal(before + after);
    if (after && after[0] !== here) await refusal(before + after[0] + here + after.slice(1));
    assert.deepEqual(await refusal(before), ['truncated', {}]);
  }
  for (const character of ALPHABET) await refusal(LINK + character);
});

test('each damage has its own name', async () => {
  const limit = 1_048_576;
  const twice = SMALL.replace('1', '1,"version":1');
  for (const [text, kind, params] of /** @type {[string, string, any][]} */ ([
    ['', 'truncated', {}],
    [`${LINK}x`, 'altered', {}],
    [LINK.slice(1), 'altered', {}],
    [`${LINK.slice(0, 9)}é${LINK.slice(9)}`, 'characters', { character: 'é' }],
    [sealed(pressed(SMALL), '2'), 'version', { version: '2', known: '1' }],
    [sealed(pressed(SMALL), '0'), 'no_version', { version: '0', known: '1' }],
    [sealed(Buffer.from([255, 255, 255])), 'not_a_scenario', {}],
    [sealed(Buffer.from([])), 'not_a_scenario', {}],
    [sealed(pressed(SMALL).subarray(0, -1)), 'not_a_scenario', {}],
    [sealed(pressed('')), 'not_a_scenario', {}],
    [sealed(pressed('[]')), 'not_a_scenario', {}],
    [sealed(pressed('['.repeat(300_000) + ']'.repeat(300_000))), 'not_a_scenario', {}],
    [sealed(pressed(SMALL.replace('[]', '['.repeat(70) + ']'.repeat(70)))), 'not_a_scenario', {}],
    [sealed(pressed(twice)), 'not_a_scenario', {}],
    [sealed(pressed(SMALL.replace('1', '1,"start_step":1e999'))), 'not_a_scenario', {}],
    [sealed(pressed(`"${' '.repeat(limit)}"`)), 'too_large', { limit }],
    ['1'.padEnd(7_000_000, 'A'), 'too_large', { limit }],
  ])) {
    assert.deepEqual(await refusal(text), [kind, params], text.slice(0, 60));
  }
});

test('keys are counted where they are keys', async () => {
  const tricky = `{"version":1,"title":"a \\"b\\":{ [ \\\\","requests":[{"req_id":"\\"x\\":"}],"steps":[{"new_block_ids" : {"\\"x\\":":[[]]}}]}`;
  assert.deepEqual(await decodeLink(sealed(pressed(tricky))), JSON.parse(tricky));
});

test('a bomb is not unpacked further than it may be', async () => {
  const bomb = sealed(deflateRawSync(Buffer.alloc(1 << 29), { level: 9 })); // half a gigabyte of zeros
  globalThis.gc?.();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 1);
  assert.deepEqual(await refusal(bomb), ['too_large', { limit: 1_048_576 }]);
  clearInterval(watch);
  assert.ok(most - before < 64e6, `${most - before} bytes`);
});

test('what cannot have a link says so', async () => {
  await assert.rejects(
    encodeLink(FORMAT, { ...WORKED, description: 'x'.repeat(1_100_000) }),
    (/** @type {any} */ error) => error.kind === 'too_large',
  );
  const { CompressionStream, DecompressionStream } = globalThis;
  try {
    Object.assign(globalThis, { CompressionStream: undefined, DecompressionStream: undefined });
    await assert.rejects(encodeLink(FORMAT, WORKED), (/** @type {any} */ error) => error.kind === 'unsupported');
    assert.deepEqual(await refusal(LINK), ['unsupported', {}]);
    assert.deepEqual(await refusal(LINK.slice(0, -1)), ['truncated', {}]);
  } finally {
    Object.assign(globalThis, { CompressionStream, DecompressionStream });
  }
});

test('an address keeps a link as it is, and reads one that others wrote around', async () => {
  const search = formatAddress({ s: LINK, step: 1, lang: 'zh' });
  assert.equal(search, `?s=${LINK}&step=1&lang=zh`);
  assert.equal(parseAddress(search).s, LINK);
  const pasted = parseAddress(`?s=${LINK.replace('~', '%7E')})&amp;step=1&amp;stage=batch`);
  assert.deepEqual([plainLink(pasted.s ?? ''), pasted.step, pasted.stage, pasted.rest], [LINK, 1, 'batch', []]);
  assert.equal(parseAddress('?s=').s, '');
  const shouted = parseAddress(`?S=${LINK}&STEP=1&Utm=X`);
  assert.deepEqual([shouted.s, shouted.step, shouted.rest], [LINK, 1, [['Utm', 'X']]]);
  const { s, href, length } = await linkTo(FORMAT, WORKED, {
    base: 'https://example.org/',
    place: { ...parseAddress('?draft=x&example=y&step=1&pin=idx_mapping.0'), rest: [] },
  });
  assert.deepEqual([s, href, length], [LINK, `https://example.org/?s=${LINK}&step=1&pin=idx_mapping.0`, href.length]);
  assert.equal((await linkTo(FORMAT, WORKED)).href, `?s=${LINK}`);
  assert.ok(length < LONGEST_IN_CHATS);
});

test('the present link is there after a while, of several scenarios in a row that of the last', async () => {
  let made = 0;
  const links = new PresentLink(FORMAT, () => (made += 1));
  const scenarios = [0, 1, 2, 3].map((start_step) => ({ ...WORKED, start_step }));
  assert.deepEqual(
    scenarios.map((scenario) => links.of(scenario)),
    [null, null, null, null],
  );
  while (made < 1) await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(links.of(scenarios[3]), await encodeLink(FORMAT, scenarios[3]));
  assert.deepEqual([links.of(scenarios[1]), links.of({ ...WORKED })], [null, null]);
});
