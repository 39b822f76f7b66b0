// @ts-check
/**
 * The compact form of a scenario: the plain document without what equals its default, keys as they are. What is wrong in
 * it stays as it is, for the server to say. app/scenario/format/compact.py does the same.
 */
import { isSame } from './same.js';

/**
 * @typedef {{defaults: Record<string, any>, parts?: Record<string, Part>}} Part  parts: fields that hold another object,
 *   or a list of them
 */

/** @type {Part} */
const GROUP = { defaults: { name: 'full', block_size: 16, sliding_window: null } };

/** @type {Part} */
const CONFIG = {
  defaults: {
    max_num_reqs: 8,
    max_num_batched_tokens: 64,
    max_model_len: 128,
    num_blocks: 128,
    num_speculative_tokens: 0,
    kv_cache_groups: [{}],
    context_parallel: {},
    cudagraph: {},
    block_pool: {},
    kv_cache: {},
  },
  parts: {
    kv_cache_groups: GROUP,
    context_parallel: { defaults: { size: 1, rank: 0, interleave: 1 } },
    cudagraph: { defaults: { mode: 'NONE', capture_sizes: [] } },
    block_pool: { defaults: { order: 'shuffled', seed: 0 } },
    kv_cache: { defaults: { num_layers: 32, num_kv_heads: 8, head_size: 128, dtype: 'float16', layout: 'NHD' } },
  },
};

/** @type {Part} */
const REQUEST = {
  defaults: { prompt_len: null, prompt_token_ids: null, initial: null },
  parts: { initial: { defaults: { num_computed_tokens: null, output_token_ids: 0, block_ids: null, req_state_idx: null } } },
};

/** @type {Part} */
const STEP = {
  defaults: {
    num_scheduled_tokens: [],
    finished_req_ids: [],
    preempted_req_ids: [],
    num_computed_tokens: {},
    new_block_ids: {},
    draft_token_ids: {},
    sampled_token_ids: {},
  },
};

/** @type {Part} */
const SCENARIO = {
  defaults: { title: '', description: '', start_step: 0, strict: true, config: {} },
  parts: { config: CONFIG, requests: REQUEST, steps: STEP },
};

/**
 * @param {any} scenario
 * @returns {any} a new document that stands for the same scenario
 */
export function compact(scenario) {
  return withoutDefaults(SCENARIO, scenario);
}

/**
 * The same text for every way to write one scenario: what tells whether two are the same.
 * @param {any} scenario
 */
export function canonical(scenario) {
  return JSON.stringify(sorted(compact(scenario)));
}

/** @param {Part} part @param {any} value @returns {any} */
function withoutDefaults(part, value) {
  if (Array.isArray(value)) return value.map((entry) => withoutDefaults(part, entry));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, given]) => {
    if (given === undefined) return [];
    let inner = given;
    if (part.parts && Object.hasOwn(part.parts, key)) inner = withoutDefaults(part.parts[key], given);
    else if (
      part === STEP &&
      key === 'num_scheduled_tokens' &&
      typeof given === 'object' &&
      given !== null &&
      !Array.isArray(given)
    )
      inner = Object.entries(given);
    const isDefault = Object.hasOwn(part.defaults, key) && isSame(inner, part.defaults[key]);
    return isDefault ? [] : [[key, inner]];
  });
  return Object.fromEntries(kept);
}

/** @param {any} value @returns {any} keys in order; only for its text: numbers come before it */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
}
