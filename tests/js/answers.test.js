// @ts-check
/** What comes from outside the page, the server and the browser's storage, is looked at before it is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, Problem, ServerFailure, Unreachable } from '../../static/js/page/api.js';
import { Step } from '../../static/js/core/trace/trace.js';
import { hasOutline } from '../../static/js/core/scenario/outline.js';
import { parse } from '../../static/js/page/state/drafts.js';
import { Trace } from '../../static/js/page/state/traces.js';

/** What asking for a trace comes to. @param {number} status @param {string} body */
async function answer(status, body) {
  const before = globalThis.fetch;
  globalThis.fetch = async () => new Response(body, { status });
  try {
    return await new Api('', 'en').trace({ version: 1, requests: [], steps: [] }, {});
  } catch (error) {
    return error;
  } finally {
    globalThis.fetch = before;
  }
}

test('an answer of another shape is the failure of the server', async () => {
  for (const body of [
    '{}',
    'null',
    '[]',
    '<html>',
    '{"summary": [], "steps": [null], "stopped": null}',
    '{"summary": [], "steps": [], "stopped": {}}',
  ]) {
    assert.ok((await answer(200, body)) instanceof ServerFailure, body);
  }
  assert.ok((await answer(500, '<html>oops</html>')) instanceof ServerFailure);
  assert.ok((await answer(500, '{"detail": "oops"}')) instanceof ServerFailure);
  assert.ok((await answer(422, 'null')) instanceof ServerFailure);
  assert.ok((await answer(422, '{}')) instanceof ServerFailure, 'a refusal without a word');
  assert.deepEqual(await answer(200, '{"summary": [], "steps": [], "stopped": null}'), {
    summary: [],
    steps: [],
    stopped: null,
  });
});

test('a refusal keeps its reasons, and a proxy without a server is no answer', async () => {
  const refused = await answer(
    422,
    '{"detail": "no", "errors": [{"where": "/steps/0", "code": "chunk", "message": "too many"}, null, {"where": 5}]}',
  );
  assert.ok(refused instanceof Problem);
  assert.deepEqual(
    refused.reasons.map(({ message }) => message),
    ['too many'],
  );
  const gone = await answer(503, '');
  assert.ok(gone instanceof Unreachable && !(gone instanceof ServerFailure));
});

test('an answer about other steps is not taken for the one asked for', async () => {
  const scenario = { version: 1, requests: [], steps: [{}, {}] };
  const api = /** @type {any} */ ({ trace: async () => ({ summary: [], steps: [], stopped: null }) });
  await assert.rejects(new Trace(api, /** @type {any} */ ({}), scenario).load(1), ServerFailure);
});

test('a damaged draft is left out and its neighbours are kept', () => {
  const good = {
    version: 1,
    requests: [{ req_id: 'A', prompt_len: 'what was typed' }],
    steps: [{ num_scheduled_tokens: [['A', 'x']] }, {}],
  };
  const bad = [
    { ...good, steps: [null] },
    { ...good, steps: [{ num_scheduled_tokens: [5] }] },
    { ...good, steps: [{ num_scheduled_tokens: [[5, 5]] }] },
    { ...good, steps: [{ finished_req_ids: 5 }] },
    { ...good, requests: 5 },
    { ...good, requests: [{ req_id: 5 }] },
    { ...good, title: {} },
    { ...good, start_step: 'x' },
    null,
  ];
  assert.ok(hasOutline(good));
  for (const scenario of bad) assert.ok(!hasOutline(scenario), JSON.stringify(scenario));
  const kept = [
    { id: 'a', saved: 1, title: '', scenario: good },
    ...bad.map((scenario, index) => ({ id: `b${index}`, scenario })),
  ];
  const { whole, damaged } = parse(JSON.stringify(kept));
  assert.deepEqual([whole.map(({ id }) => id), damaged.length, damaged[0]], [['a'], bad.length, 'b0']);
  for (const text of ['{', 'null', '5', '{}']) assert.deepEqual(parse(text), { whole: [], damaged: [''] });
  assert.deepEqual(parse(null), { whole: [], damaged: [] });
});

test('requests whose names are numbers keep the order of their rows', () => {
  const json = {
    index: 0,
    num_reqs: 0,
    num_tokens: 0,
    num_reqs_padded: 0,
    num_tokens_padded: 0,
    cudagraph_mode: 'NONE',
    req_ids: [],
    req_id_to_index: { 10: 7, 2: 6, 1: 5 },
    free_indices: [],
    events: [],
    spaces: {},
    checks: [],
    sentences: {},
  };
  const step = new Step(json);
  assert.deepEqual([...step.rows.keys()], ['10', '2', '1']);
});
