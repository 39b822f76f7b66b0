// @ts-check
/**
 * The fields of a scenario beside its requests and steps: what each may hold and what it holds when nobody says, read off
 * the server's own description of the format; and changes to them as pure functions from one draft to the next.
 */
import { pointerKeys } from './edits.js';
import { resolve } from './format.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {import('./format.js').Schema} Schema */
/** @typedef {(string | number)[]} Path */
/**
 * @typedef {object} Field
 * @property {Path} path
 * @property {string} key  of its words, the same in every group
 * @property {string} name  as the format calls it
 * @property {'integer' | 'integers' | 'choice' | 'boolean' | 'text'} kind
 * @property {any} fallback  what holds where nothing is said
 * @property {boolean} isNullable
 * @property {string[]} choices
 * @property {number | null} minimum  of a number, or of each of several
 * @property {number | null} maximum
 * @property {number | null} maxLength
 */
/** @typedef {{name: string, fields: Field[], groups?: Field[][]}} Section */

const ABOUT = ['title', 'description', 'start_step', 'strict'];
const LIMITS = ['max_num_reqs', 'max_num_batched_tokens', 'max_model_len', 'num_blocks'];

/**
 * Everything there is to set, in sections; the groups of the KV cache each with fields of their own. A field that the
 * format has and this file does not know has a section too.
 * @param {Schema} schema
 * @param {Scenario} draft
 * @returns {Section[]}
 */
export function sections(schema, draft) {
  const config = resolve(schema, schema.properties.config);
  const inConfig = (/** @type {string} */ name) => fieldOf(schema, config.properties[name], ['config', name]);
  const objects = Object.keys(config.properties).filter((name) => resolve(schema, config.properties[name]).properties);
  const rest = Object.keys(config.properties).filter(
    (name) =>
      !LIMITS.includes(name) && !objects.includes(name) && name !== 'kv_cache_groups' && name !== 'num_speculative_tokens',
  );
  const inside = (/** @type {string} */ name) => ({
    name,
    fields: Object.entries(resolve(schema, config.properties[name]).properties).map(([field, what]) =>
      fieldOf(schema, what, ['config', name, field]),
    ),
  });
  const group = resolve(schema, config.properties.kv_cache_groups.items);
  const groups = groupsOf(schema, draft).map((_, index) =>
    Object.entries(group.properties).map(([name, what]) =>
      fieldOf(schema, what, ['config', 'kv_cache_groups', index, name]),
    ),
  );
  return [
    { name: 'limits', fields: LIMITS.map(inConfig) },
    { name: 'kv_cache_groups', fields: [], groups },
    { name: 'speculation', fields: [inConfig('num_speculative_tokens')] },
    ...['cudagraph', 'context_parallel', 'block_pool', 'kv_cache'].map(inside),
    ...objects.filter((name) => !['cudagraph', 'context_parallel', 'block_pool', 'kv_cache'].includes(name)).map(inside),
    ...(rest.length > 0 ? [{ name: 'other', fields: rest.map(inConfig) }] : []),
    { name: 'about', fields: ABOUT.map((name) => fieldOf(schema, schema.properties[name], [name])) },
  ];
}

/** @param {Schema} schema @param {any} given @param {Path} path @returns {Field} */
function fieldOf(schema, given, path) {
  const options = (given.anyOf ?? [given]).map((/** @type {any} */ option) => resolve(schema, option));
  const what = options.find((/** @type {any} */ option) => option.type !== 'null') ?? {};
  const entry = what.type === 'array' ? resolve(schema, what.items) : what;
  return {
    path,
    key: path
      .filter((part) => typeof part === 'string')
      .join('.')
      .replace(/^config\./, ''),
    name: String(path[path.length - 1]),
    kind: what.enum
      ? 'choice'
      : what.type === 'boolean'
        ? 'boolean'
        : what.type === 'array'
          ? 'integers'
          : what.type === 'integer'
            ? 'integer'
            : 'text',
    fallback: given.default ?? null,
    isNullable: options.some((/** @type {any} */ option) => option.type === 'null'),
    choices: what.enum ?? [],
    minimum: entry.minimum ?? null,
    maximum: entry.maximum ?? null,
    maxLength: what.maxLength ?? null,
  };
}

/** The groups that hold, the default one included. @param {Schema} schema @param {Scenario} draft @returns {any[]} */
export function groupsOf(schema, draft) {
  const given = draft.config?.kv_cache_groups;
  return Array.isArray(given) ? given : defaultGroups(schema);
}

/** @param {Schema} schema @returns {any[]} */
function defaultGroups(schema) {
  return resolve(schema, schema.properties.config).properties.kv_cache_groups.default;
}

/** How many groups there may be. @param {Schema} schema @returns {number} */
export function mostGroups(schema) {
  return resolve(schema, schema.properties.config).properties.kv_cache_groups.maxItems;
}

/** What the draft says, undefined where it says nothing. @param {Scenario} draft @param {Path} path @returns {any} */
function given(draft, path) {
  let node = /** @type {any} */ (draft);
  for (const part of path)
    node = node !== null && typeof node === 'object' && Object.hasOwn(node, part) ? node[part] : undefined;
  return node;
}

/** @param {Scenario} draft @param {Field} field @returns {any} what holds */
export function valueOf(draft, field) {
  const value = given(draft, field.path);
  return value === undefined ? field.fallback : value;
}

/** @param {Scenario} draft @param {Field} field */
export function isChanged(draft, field) {
  return !isSame(valueOf(draft, field), field.fallback);
}

/**
 * Whether anything of the config is not as it would be if nobody said anything.
 * @param {Schema} schema
 * @param {Scenario} draft
 */
export function isConfigChanged(schema, draft) {
  const isDefaultGroups =
    isSame(draft.config?.kv_cache_groups ?? null, null) || isSame(draft.config?.kv_cache_groups, defaultGroups(schema));
  return (
    !isDefaultGroups ||
    sections(schema, draft).some(({ fields }) =>
      fields.some((field) => field.path[0] === 'config' && isChanged(draft, field)),
    )
  );
}

/** @param {unknown} a @param {unknown} b */
function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * What is typed, as the format's value; what is no such value stays the text that it is, for the server to say so.
 * @param {Field} field
 * @param {string} text
 */
export function typedValue(field, text) {
  if (field.kind === 'text' || field.kind === 'choice') return text;
  const typed = text.trim().normalize('NFKC');
  if (field.kind === 'integers')
    return typed
      .split(/[\s,;、，[\]]+/)
      .filter(Boolean)
      .map(whole);
  if (typed === '') return field.isNullable ? null : field.fallback;
  if (field.isNullable && /^(?:none|null|无|[-–—])$/i.test(typed)) return null;
  return whole(/^\d{1,3}(?:,\d{3})+$/.test(typed) ? typed.replaceAll(',', '') : typed); // as numbers are shown
}

/** @param {string} text */
function whole(text) {
  const digits = text.replaceAll(/(?<=\d)[_\u00a0\u202f](?=\d)/g, '');
  return /^[-+]?\d{1,15}$/.test(digits) ? Number(digits) : text;
}

/** A value as it stands in its field. @param {any} value */
export function shownValue(value) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value))
    return value.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * The default is nothing to say, so it is not in the draft.
 * @param {Schema} schema
 * @param {Scenario} draft
 * @param {Field} field
 * @param {any} value
 * @returns {Scenario}
 */
export function setField(schema, draft, field, value) {
  const [first, ...inner] = field.path;
  if (inner[0] === 'kv_cache_groups') {
    const [, index, name] = inner;
    const groups = groupsOf(schema, draft).map((group, place) => (place === index ? { ...group, [name]: value } : group));
    return withGroups(schema, draft, groups);
  }
  return /** @type {Scenario} */ (put(draft, [first, ...inner], isSame(value, field.fallback) ? undefined : value));
}

/**
 * With a value at a path, or without it: objects that are empty then go too.
 * @param {any} node
 * @param {Path} path
 * @param {any} value
 * @returns {any}
 */
function put(node, [key, ...inner], value) {
  const { [key]: old, ...rest } = node;
  const isObject = typeof old === 'object' && old !== null && !Array.isArray(old);
  const next = inner.length === 0 ? value : put(isObject ? old : {}, inner, value);
  const isGone = next === undefined || (inner.length > 0 && Object.keys(next).length === 0);
  if (isGone) return rest;
  return Object.hasOwn(node, key) ? { ...node, [key]: next } : { ...rest, [key]: next };
}

/** @param {Schema} schema @param {Scenario} draft @param {any[]} groups @returns {Scenario} */
function withGroups(schema, draft, groups) {
  const kept = groups.map((group) =>
    group?.sliding_window === null
      ? Object.fromEntries(Object.entries(group).filter(([name]) => name !== 'sliding_window'))
      : group,
  );
  const [only] = defaultGroups(schema);
  const isDefault = kept.length === 1 && Object.keys(only).every((name) => isSame(kept[0]?.[name] ?? null, only[name]));
  return put(draft, ['config', 'kv_cache_groups'], isDefault ? undefined : kept);
}

/**
 * A group more, as large as the last one. Blocks that steps name are left alone: whose the new ones are is not known.
 * @param {Schema} schema
 * @param {Scenario} draft
 * @returns {Scenario}
 */
export function addGroup(schema, draft) {
  const groups = groupsOf(schema, draft);
  const names = new Set(groups.map((group) => group?.name));
  let number = groups.length;
  while (names.has(`group${number}`)) number += 1;
  const like = groups[groups.length - 1];
  return withGroups(schema, draft, [
    ...groups,
    { name: `group${number}`, ...(like?.block_size === undefined ? {} : { block_size: like.block_size }) },
  ]);
}

/**
 * Without a group, and without its part of the blocks that requests and steps name.
 * @param {Schema} schema
 * @param {Scenario} draft
 * @param {number} index
 * @returns {Scenario}
 */
export function removeGroup(schema, draft, index) {
  const groups = groupsOf(schema, draft);
  const without = (/** @type {any} */ lists) =>
    Array.isArray(lists) && lists.length === groups.length ? lists.filter((_, place) => place !== index) : lists;
  const next = withGroups(
    schema,
    draft,
    groups.filter((_, place) => place !== index),
  );
  return {
    ...next,
    requests: next.requests.map((request) =>
      request.initial?.block_ids
        ? { ...request, initial: { ...request.initial, block_ids: without(request.initial.block_ids) } }
        : request,
    ),
    steps: next.steps.map((step) => {
      const named = step.new_block_ids;
      if (typeof named !== 'object' || named === null || Array.isArray(named)) return step;
      return {
        ...step,
        new_block_ids: Object.fromEntries(Object.entries(named).map(([name, lists]) => [name, without(lists)])),
      };
    }),
  };
}

/** The whole config as if nobody had said anything. @param {Schema} schema @param {Scenario} draft @returns {Scenario} */
export function resetConfig(schema, draft) {
  let next = draft;
  for (let last = groupsOf(schema, draft).length - 1; last > 0; last -= 1) next = removeGroup(schema, next, last);
  const { config: _given, ...rest } = next;
  return /** @type {Scenario} */ (rest);
}

/**
 * Whether a fault is one of a field: of its value, or of something inside it.
 * @param {Field} field
 * @param {{where: string}} fault
 */
export function isAt(field, { where }) {
  const keys = pointerKeys(where);
  return field.path.every((part, place) => keys[place] === String(part));
}
