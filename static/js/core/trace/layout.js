// @ts-check
/**
 * Which tables a stage shows: spaces with the same axis become the lines of one table.
 *
 * In: the schema, a step, a stage. Out: table models. Lines stand in the order in which the spaces are declared.
 */
import { isGrouped } from './trace.js';

/**
 * @typedef {object} Line one row of a strip, one column of a table
 * @property {string} space
 * @property {number | null} group  fixed first index, null for a space without groups
 * @property {boolean} list  each entry holds a list (a block table's ids)
 * @property {string} dtype
 * @property {string | null} holds
 * @property {string} tail  the dimension of the list, '' if there is none
 */
/**
 * @typedef {object} TableModel
 * @property {string} axis
 * @property {string} dim  the longest dimension drawn along the axis
 * @property {number} count
 * @property {boolean} across  entries are columns (tokens), not rows (requests)
 * @property {Line[]} lines
 */

/**
 * @param {import('./schema.js').Schema} schema
 * @param {import('./trace.js').Step} step
 * @param {string} stage
 * @returns {TableModel[]}
 */
export function tablesOf(schema, step, stage) {
  const names = schema.ofStage(stage).filter((name) => step.space(name) && schema.hasLine(name));
  /** @type {Map<string, TableModel>} */
  const tables = new Map();
  for (const name of names) {
    const space = /** @type {import('./trace.js').Space} */ (step.space(name));
    const grouped = isGrouped(space.dims);
    const [dim, tail = ''] = grouped ? space.dims.slice(1) : space.dims;
    const axis = schema.axisOf(dim);
    let table = tables.get(axis);
    if (!table) {
      table = { axis, dim, count: 0, across: schema.isAcross(axis), lines: [] };
      tables.set(axis, table);
    }
    const groups = grouped ? Array.from({ length: space.length }, (_, group) => group) : [null];
    for (const group of groups) {
      const count = group === null ? space.length : space.rowLength([group]);
      if (count > table.count) Object.assign(table, { count, dim });
      table.lines.push({
        space: name,
        group,
        list: tail !== '',
        tail,
        dtype: space.dtype,
        holds: schema.def(name)?.holds ?? null,
      });
    }
  }
  for (const table of tables.values()) table.lines = byGroup(table.lines);
  return [...tables.values()];
}

/** Lines without a group first, then all of group 0, all of group 1, ... @param {Line[]} lines */
function byGroup(lines) {
  return [...lines].sort((a, b) => (a.group ?? -1) - (b.group ?? -1));
}

/**
 * Whether a stage has a table whose entries are columns: it needs the width.
 * @param {import('./schema.js').Schema} schema
 * @param {string} stage
 */
export function runsAcross(schema, stage) {
  return schema.ofStage(stage).some((name) => {
    const { dims } = /** @type {import('./schema.js').SpaceDef} */ (schema.def(name));
    return schema.isAcross(dims[isGrouped(dims) ? 1 : 0]);
  });
}

/**
 * Coordinates of an entry of a line, ready for `Space.get`.
 * @param {Line} line
 * @param {number} entry
 * @param {number} [item] place in the list
 */
export function cellAt(line, entry, item) {
  const at = line.group === null ? [entry] : [line.group, entry];
  if (item !== undefined) at.push(item);
  return at;
}
