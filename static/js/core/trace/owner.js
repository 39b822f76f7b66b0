// @ts-check
/**
 * Whose a row, a token or a block is: the request that any index implies, through the schema's coordinates.
 */
import { derivations } from './program.js';
import { isNull } from './trace.js';

/**
 * @param {import('./links.js').Links} links
 * @param {string} dim
 * @returns {(index: number) => string | null}
 */
export function ownerAlong(links, dim) {
  const { context, schema, step } = links;
  const tag = schema.tagOf(dim);
  const direct = tag ? step.space(tag) : null;
  if (direct) return (index) => text(direct.get([index]));
  const slot = context.slots.get(dim);
  const wanted = context.slots.get('req_id');
  if (slot === undefined || wanted === undefined) return () => null;
  const plan = derivations(schema.coordinates, [dim], context);
  /** @type {any[]} */
  const vars = new Array(context.slots.size).fill(NaN);
  return (index) => {
    vars.fill(NaN);
    vars[slot] = index;
    for (const one of plan) {
      if (isNull(vars[one.slot])) vars[one.slot] = one.run(vars);
      if (one.slot === wanted && !isNull(vars[wanted])) break;
    }
    return text(vars[wanted]);
  };
}

/** @param {any} value */
function text(value) {
  return typeof value === 'string' ? value : null;
}
