// @ts-check
/** What scripts say of the format by themselves, beside what the server says of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BY_REQUEST, LISTS } from '../../static/js/core/scenario/edits.js';
import { formatOf } from '../../static/js/core/scenario/format.js';
import * as limits from '../../static/js/core/scenario/limits.js';
import { served } from './fixtures/served.js';

const { format: schema } = served();
const format = formatOf(schema);

test('what holds where nothing is said', () => {
  const config = format.get('config')?.part;
  for (const [name, value] of Object.entries(limits.DEFAULTS)) assert.equal(config?.get(name)?.fallback, value, name);
});

test('the most there can be', () => {
  const { requests, steps, title, description } = schema.properties;
  assert.equal(limits.MOST_REQUESTS, requests.maxItems);
  assert.equal(limits.MOST_STEPS, steps.maxItems);
  assert.equal(limits.MOST_TITLE, title.maxLength);
  assert.equal(limits.MOST_DESCRIPTION, description.maxLength);
  assert.equal(limits.MOST_NAME, schema.$defs.Request.properties.req_id.maxLength);
});

test('a step names requests in these fields, and in no others', () => {
  const step = format.get('steps')?.part;
  assert.deepEqual([...(step?.keys() ?? [])], ['num_scheduled_tokens', ...LISTS, ...BY_REQUEST]);
  assert.ok(step?.get('num_scheduled_tokens')?.isPairs);
});
