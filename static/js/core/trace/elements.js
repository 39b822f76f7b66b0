// @ts-check
/**
 * The second level of stepping: inside a stage element by element, one request or one token at a time.
 *
 * In: the schema, a step, a stage. Out: how many elements there are, and which cell stands for each.
 */

/** @typedef {import('./trace.js').Step} Step */
/**
 * @typedef {object} Elements
 * @property {string} axis
 * @property {number} count
 * @property {(place: number) => number} index  where on its axis an element is
 * @property {(place: number) => {space: string, at: number[]}} cell  what stands for it
 * @property {(coordinates: Record<string, any>) => number} place  of the element that a cell belongs to, -1 if to none
 */

/** The rows of the pool stay when their request is gone: those with a request are stepped through, in the pool's order. */
const POOL = 'req_state_idx';

/**
 * @param {import('./schema.js').Schema} schema
 * @param {Step} step
 * @param {string} stage
 * @param {number} group
 * @returns {Elements | null} null where there is nothing to step through
 */
export function elementsOf(schema, step, stage, group) {
  const by = schema.stage(stage)?.elements;
  const space = by ? step.space(by.space) : null;
  if (!by || !space || step.empty) return null;
  const { axis } = by;
  const rows = axis === POOL ? [...step.rows.values()] : null;
  const count = rows ? rows.length : step.entries(axis);
  const index = (/** @type {number} */ place) => (rows ? rows[place] : place);
  // A list stands for itself by its first entry.
  const along = (/** @type {string} */ dim, /** @type {number} */ place) =>
    schema.axisOf(dim) === axis ? index(place) : dim === 'group' ? group : 0;
  return {
    axis,
    count,
    index,
    cell: (place) => ({ space: by.space, at: space.dims.map((dim) => along(dim, place)) }),
    place: (coordinates) => {
      const found = coordinates[axis];
      if (typeof found !== 'number') return -1;
      return rows ? rows.indexOf(found) : found < count ? found : -1;
    },
  };
}
