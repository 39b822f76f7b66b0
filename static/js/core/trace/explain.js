// @ts-check
/**
 * Everything the inspector says about one cell, as data.
 *
 * In: the links of a step, a cell. Out: its value, the case that explains it, the formula in pieces, the
 * coordinates it has or implies (the walk), and what state it is in.
 */
import { derivations } from './program.js';
import { cellFormula, formulaPieces } from './formula.js';
import { isNull } from './trace.js';

/** @typedef {import('./trace.js').Value} Value */
/** @typedef {import('./formula.js').Piece} Piece */
/** @typedef {{name: string, value: Value, given: boolean, how: Piece[]}} Coordinate */
/**
 * @typedef {object} Explanation
 * @property {string} space
 * @property {number[]} at
 * @property {Value} value
 * @property {import('./schema.js').SpaceDef} def
 * @property {import('./schema.js').Source | null} source the code that computed it: of its case, else of its space
 * @property {string} note  key of the sentence that says what this cell is
 * @property {string} state what its case says the cell is besides data: stale, padding, ...; '' for plain data
 * @property {Piece[]} formula
 * @property {Coordinate[]} walk
 * @property {Record<string, Value>} params  for the sentence: every coordinate, and the value
 */

/**
 * @param {import('./schema.js').Case | null} one  the case that explains a cell
 * @param {Value} value
 * @returns {string} '' for plain data
 */
function stateOf(one, value) {
  const state = one?.state ?? 'data';
  return state !== 'data' ? state : isNull(value) ? 'unknown' : '';
}

/**
 * The state of a cell alone: cheap enough for every cell in sight.
 * @param {import('./links.js').Links} links
 * @param {string} name
 * @param {number[]} at
 * @param {Value} value
 */
export function cellState(links, name, at, value) {
  const def = links.schema.def(name);
  const program = links.program(name);
  if (!def || !program) return isNull(value) ? 'unknown' : '';
  const found = program.caseOf(at, value);
  return stateOf(found && def.cases[found.index], value);
}

/**
 * @param {import('./links.js').Links} links
 * @param {string} name
 * @param {number[]} at
 * @param {Record<string, Value>} assume coordinates a reader is looking at, for a cell that does not imply them (the group)
 * @returns {Explanation | null}
 */
export function explain(links, name, at, assume = {}) {
  const def = links.schema.def(name);
  const program = links.program(name);
  const space = links.step.space(name);
  if (!def || !program || !space || space.find(at) < 0) return null;
  const value = space.get(at);
  const found = program.caseOf(at, value);
  const one = found ? def.cases[found.index] : null;
  const formula =
    one && one.formula !== null ? cellFormula(one.formula, links.context, program.vars, links.schema.symbols) : [];
  const coordinates = coordinatesOf(links, def, at, value, assume);
  /** @type {Record<string, Value>} */
  const params = { value };
  for (const coordinate of coordinates.values()) params[coordinate.name] = coordinate.value;
  const walk = links.schema.walk.flatMap((step) => coordinates.get(step) ?? []);
  return {
    space: name,
    at,
    value,
    def,
    source: one?.source ?? def.source,
    note: one?.note ?? '',
    state: stateOf(one, value),
    formula,
    walk,
    params,
  };
}

/**
 * @param {import('./links.js').Links} links
 * @param {import('./schema.js').SpaceDef} def
 * @param {number[]} at
 * @param {Value} value
 * @param {Record<string, Value>} assume
 * @returns {Map<string, Coordinate>}
 */
function coordinatesOf(links, def, at, value, assume) {
  const { context, schema } = links;
  /** @type {Value[]} */
  const vars = new Array(context.slots.size).fill(NaN);
  const set = (/** @type {string} */ name, /** @type {Value} */ known) => {
    vars[/** @type {number} */ (context.slots.get(name))] = known;
  };
  /** @type {Map<string, Coordinate>} */
  const coordinates = new Map();
  set('value', value);
  def.dims.forEach((dim, place) => {
    set(dim, at[place]);
    coordinates.set(dim, { name: dim, value: at[place], given: true, how: [] });
  });
  // A negative id points nowhere (-1 is padding).
  if (
    def.holds &&
    (typeof value === 'string' || value >= 0) &&
    context.slots.has(def.holds) &&
    !coordinates.has(def.holds)
  ) {
    set(def.holds, value);
    coordinates.set(def.holds, { name: def.holds, value, given: true, how: [] });
  }
  for (const [name, known] of Object.entries(assume)) {
    if (coordinates.has(name) || !context.slots.has(name)) continue;
    set(name, known);
    coordinates.set(name, { name, value: known, given: true, how: [] });
  }
  for (const step of derivations(schema.coordinates, [...coordinates.keys(), 'value'], context)) {
    if (!isNull(vars[step.slot])) continue;
    const derived = step.run(vars);
    if (isNull(derived) || (typeof derived === 'number' && derived < 0)) continue; // a negative id points nowhere
    vars[step.slot] = derived;
    coordinates.set(step.name, {
      name: step.name,
      value: derived,
      given: false,
      how: formulaPieces(step.expr, context, vars, schema.symbols),
    });
  }
  return coordinates;
}
