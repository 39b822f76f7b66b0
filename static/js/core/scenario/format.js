// @ts-check
/**
 * The format of a scenario as the server describes it: which fields an object has, in which order, what each holds where
 * nothing is said, and which hold objects with fields of their own.
 *
 * In: the JSON Schema in the page (`pw-format`). Out: the same, for writing scenarios down.
 */

/** @typedef {Record<string, any>} Schema  JSON Schema of a scenario */
/**
 * @typedef {object} Field
 * @property {any} fallback  undefined where a value must be given
 * @property {Format | null} part  the fields of the object it holds, or of each in its list
 * @property {boolean} isPairs  it may be an object or pairs, and the order counts
 */
/** @typedef {Map<string, Field>} Format  fields by name, in the format's order */

/** @param {Schema} schema @returns {Format} */
export function formatOf(schema) {
  return fieldsOf(schema, schema);
}

/** What a reference stands for. @param {Schema} schema @param {any} node */
export function resolve(schema, node) {
  return node?.$ref ? schema.$defs[node.$ref.split('/').pop()] : (node ?? {});
}

/** @param {Schema} schema @param {any} object @returns {Format} */
function fieldsOf(schema, { properties }) {
  return new Map(
    Object.entries(properties).map(([name, given]) => {
      const options = (given.anyOf ?? [given]).map((/** @type {any} */ option) => resolve(schema, option));
      const inner = options
        .map((/** @type {any} */ option) => resolve(schema, option.items ?? option))
        .find((/** @type {any} */ option) => option.properties);
      const isPairs =
        options.some((/** @type {any} */ { type }) => type === 'object') &&
        options.some((/** @type {any} */ { items }) => items?.prefixItems);
      return [name, { fallback: given.default, part: inner ? fieldsOf(schema, inner) : null, isPairs }];
    }),
  );
}
