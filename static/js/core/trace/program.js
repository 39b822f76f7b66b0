// @ts-check
/**
 * A space's formulas, compiled for one step: what explains a cell, and which cells it reads.
 *
 * In: the schema's cases and coordinates, a step. Out: for the coordinates of a cell, the case that holds
 * and the formula's closures. A formula may name the cell's dimensions, its `value`, and every coordinate
 * those imply; only the coordinates that the formulas mention are worked out.
 */
import { compile, truthy, variablesOf } from './expr.js';
import { isNull } from './trace.js';

/** @typedef {import('./expr.js').Compiled} Compiled */
/** @typedef {import('./expr.js').Context} Context */
/** @typedef {import('./trace.js').Value} Value */
/** @typedef {{name: string, slot: number, expr: any, run: Compiled}} Derivation */
/**
 * @typedef {{index: number, when: Compiled | null, formula: Compiled | null, inputs: Compiled[], control: Compiled[]}}
 *   CompiledCase
 */

/**
 * Derivations worth trying for a cell whose dimensions are given, in the order of the schema, repeated until
 * nothing new can be reached.
 * @param {{name: string, expr: any}[]} coordinates
 * @param {Iterable<string>} given
 * @param {Context} context
 * @returns {Derivation[]}
 */
export function derivations(coordinates, given, context) {
  const known = new Set(given);
  const names = new Set(coordinates.map((entry) => entry.name));
  /** @type {Derivation[]} */
  const plan = [];
  const used = new Set();
  for (let grew = true; grew; ) {
    grew = false;
    for (const entry of coordinates) {
      if (used.has(entry)) continue;
      const needs = [...variablesOf(entry.expr)];
      if (needs.some((name) => (names.has(name) || context.slots.has(name)) && !known.has(name))) continue;
      used.add(entry);
      grew = true;
      known.add(entry.name);
      const slot = /** @type {number} */ (context.slots.get(entry.name));
      plan.push({ name: entry.name, slot, expr: entry.expr, run: compile(entry.expr, context) });
    }
  }
  return plan;
}

/**
 * The part of a plan that some variables depend on.
 * @param {Derivation[]} plan
 * @param {Set<string>} wanted
 */
function slice(plan, wanted) {
  const needed = new Set(wanted);
  for (let grew = true; grew; ) {
    const before = needed.size;
    for (const step of plan) if (needed.has(step.name)) variablesOf(step.expr, needed);
    grew = needed.size > before;
  }
  return plan.filter((step) => needed.has(step.name));
}

export class Program {
  /**
   * @param {import('./schema.js').SpaceDef} def
   * @param {import('./schema.js').Schema} schema
   * @param {import('./trace.js').Space} space
   * @param {Context} context
   */
  constructor(def, schema, space, context) {
    this.space = space;
    this.context = context;
    this.slotCount = context.slots.size;
    this.dimSlots = def.dims.map((dim) => /** @type {number} */ (context.slots.get(dim)));
    this.valueSlot = /** @type {number} */ (context.slots.get('value'));
    /** @type {Value[]} */
    this.vars = new Array(this.slotCount).fill(NaN);
    const wanted = new Set();
    /** @type {CompiledCase[]} */
    this.cases = def.cases.map((one, index) => {
      variablesOf(one.when, wanted);
      variablesOf(one.formula, wanted);
      for (const ref of [...(one.inputs ?? []), ...(one.control ?? [])]) variablesOf(ref, wanted);
      return {
        index,
        when: one.when === null || one.when === undefined ? null : compile(one.when, context),
        formula: one.formula === null || one.formula === undefined ? null : compile(one.formula, context),
        inputs: (one.inputs ?? []).map((ref) => compile(ref, context)),
        control: (one.control ?? []).map((ref) => compile(ref, context)),
      };
    });
    const plan = derivations(schema.coordinates, [...def.dims, 'value'], context);
    this.needed = slice(plan, wanted);
  }

  /**
   * Variables of a cell: its coordinates, its value, and what they imply.
   * @param {ArrayLike<number>} at
   * @param {Value} value
   */
  bind(at, value) {
    const vars = this.vars;
    vars.fill(NaN);
    for (let dim = 0; dim < this.dimSlots.length; dim += 1) vars[this.dimSlots[dim]] = at[dim];
    vars[this.valueSlot] = value;
    for (const step of this.needed) if (isNull(vars[step.slot])) vars[step.slot] = step.run(vars);
    return vars;
  }

  /**
   * The case that explains a cell, null where the schema has none.
   * @param {ArrayLike<number>} at
   * @param {Value} value
   * @returns {CompiledCase | null}
   */
  caseOf(at, value) {
    const vars = this.bind(at, value);
    for (const one of this.cases) if (!one.when || truthy(one.when(vars))) return one;
    return null;
  }

  /**
   * Runs the formula of a cell for the cells it reads, or for those that only order it.
   * @param {ArrayLike<number>} at
   * @param {Value} value
   * @param {boolean} control
   * @param {(space: import('./trace.js').Space, cell: number) => void} sink
   */
  read(at, value, control, sink) {
    const found = this.caseOf(at, value);
    if (!found) return;
    const { context, vars } = this;
    context.sink = control ? null : sink;
    context.controlSink = control ? sink : null;
    found.formula?.(vars);
    for (const ref of found.inputs) ref(vars);
    context.sink = sink;
    if (control) for (const ref of found.control) ref(vars);
    context.sink = null;
    context.controlSink = null;
  }
}
