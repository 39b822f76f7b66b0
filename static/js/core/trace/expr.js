// @ts-check
/**
 * The little language in which the server says how a cell was computed, compiled to closures.
 *
 * In: an expression as JSON (a number, null, a variable name, or a list whose head is an operator) and the
 * step it is read in. Out: a function of the variables. "Not known" is NaN, which arithmetic carries along
 * by itself; `==` alone compares it as a value.
 */
import { isNull } from './trace.js';

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {import('./trace.js').Space} Space */
/** @typedef {import('./trace.js').Value} Value */
/** @typedef {any} Expr  number | null | string | [operator, ...] */
/** @typedef {(vars: Value[]) => Value} Compiled */

/**
 * What an expression is compiled against.
 * @typedef {object} Context
 * @property {Step} step
 * @property {Step | null} prev  the previous engine step, null if the trace does not hold it
 * @property {Record<string, any>} constants
 * @property {Map<string, number>} slots  variable name -> place in `vars`
 * @property {((space: Space, cell: number) => void) | null} sink  told of every cell read, while set
 * @property {((space: Space, cell: number) => void) | null} controlSink  the same for cells that only order others
 */

const NULL = NaN;

/** @param {Value} value */
export function truthy(value) {
  return !isNull(value) && value !== 0 && value !== '';
}

/** @param {Value} a @param {Value} b */
function same(a, b) {
  return a === b || (isNull(a) && isNull(b));
}

/** @type {Record<string, (a: any, b: any) => Value>} */
const BINARY = {
  '-': (a, b) => a - b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => a - b * Math.floor(a / b),
  '==': (a, b) => (same(a, b) ? 1 : 0),
  '!=': (a, b) => (same(a, b) ? 0 : 1),
  '<': (a, b) => (isNull(a) || isNull(b) ? NULL : Number(a < b)),
  '<=': (a, b) => (isNull(a) || isNull(b) ? NULL : Number(a <= b)),
  '>': (a, b) => (isNull(a) || isNull(b) ? NULL : Number(a > b)),
  '>=': (a, b) => (isNull(a) || isNull(b) ? NULL : Number(a >= b)),
};

/** @type {Record<string, (a: any, b: any) => Value>} */
const FOLDED = {
  '+': (a, b) => a + b,
  '*': (a, b) => a * b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
};

/**
 * @param {Expr} expr
 * @param {Context} context
 * @returns {Compiled}
 */
export function compile(expr, context) {
  if (expr === null || expr === undefined) return () => NULL;
  if (typeof expr === 'number') return () => expr;
  if (typeof expr === 'boolean') return () => Number(expr);
  if (typeof expr === 'string') return variable(expr, context);
  const [operator, ...operands] = expr;
  if (operator === '@') return cell(operands[0], operands.slice(1), context);
  if (operator === 'str') return () => operands[0];
  if (operator === 'prev') return previous(operands[0], context);
  if (operator === 'control') return control(operands[0], context);
  if (operator === 'find') return find(operands[0], operands[1], context);
  if (operator === 'bisect') return bisect(operands[0], operands[1], context);
  if (operator === 'len') return rowLength(operands[0], operands.slice(1), context);
  const compiled = operands.map((/** @type {Expr} */ operand) => compile(operand, context));
  if (operator === 'if') {
    const [condition, then, otherwise] = compiled;
    return (vars) => (truthy(condition(vars)) ? then(vars) : otherwise(vars));
  }
  if (operator === 'and') return (vars) => Number(compiled.every((/** @type {Compiled} */ part) => truthy(part(vars))));
  if (operator === 'or') return (vars) => Number(compiled.some((/** @type {Compiled} */ part) => truthy(part(vars))));
  if (operator === 'not') return (vars) => Number(!truthy(compiled[0](vars)));
  if (operator === '-' && compiled.length === 1) return (vars) => -(/** @type {number} */ (compiled[0](vars)));
  const binary = BINARY[operator];
  if (binary) {
    const [left, right] = compiled;
    return (vars) => binary(left(vars), right(vars));
  }
  const folded = FOLDED[operator];
  if (folded) {
    if (compiled.length === 2) {
      const [left, right] = compiled;
      return (vars) => folded(left(vars), right(vars));
    }
    return (vars) => {
      let value = compiled[0](vars);
      for (let part = 1; part < compiled.length; part += 1) value = folded(value, compiled[part](vars));
      return value;
    };
  }
  throw new Error(`unknown operator ${JSON.stringify(operator)}`);
}

/** Operators whose first operand is the name of a space. */
const NAMED = new Set(['@', 'find', 'bisect', 'len']);

/**
 * Names met in an expression, for deciding which coordinates it needs.
 * @param {Expr} expr
 * @param {Set<string>} into
 */
export function variablesOf(expr, into = new Set()) {
  if (typeof expr === 'string') into.add(expr);
  if (!Array.isArray(expr)) return into;
  const [operator, ...operands] = expr;
  if (operator === 'str') return into;
  const named = NAMED.has(operator);
  for (const operand of named ? operands.slice(1) : operands) variablesOf(operand, into);
  return into;
}

/**
 * Spaces whose cells an expression reads in its own step.
 * @param {Expr} expr
 * @param {Set<string>} into
 */
export function spacesOf(expr, into = new Set()) {
  if (!Array.isArray(expr) || expr[0] === 'prev' || expr[0] === 'control' || expr[0] === 'str') return into;
  const [operator, ...operands] = expr;
  if (operator === '@') into.add(operands[0]);
  const named = NAMED.has(operator);
  for (const operand of named ? operands.slice(1) : operands) spacesOf(operand, into);
  return into;
}

/** @param {string} name @param {Context} context @returns {Compiled} */
function variable(name, context) {
  const slot = context.slots.get(name);
  if (slot !== undefined) return (vars) => vars[slot];
  const value = context.step.scalars[name] ?? context.constants[name];
  return () => (typeof value === 'number' || typeof value === 'string' ? value : NULL);
}

/** @param {string} name @param {Expr[]} indices @param {Context} context @returns {Compiled} */
function cell(name, indices, context) {
  const compiled = indices.map((index) => compile(index, context));
  const space = context.step.space(name);
  if (!space) return constant(context.constants[name], compiled);
  const at = new Float64Array(indices.length);
  return (vars) => {
    for (let dim = 0; dim < at.length; dim += 1) at[dim] = /** @type {number} */ (compiled[dim](vars));
    const found = space.find(at);
    if (found < 0) return NULL;
    if (context.sink) context.sink(space, found);
    return space.value(found);
  };
}

/** @param {any} array @param {Compiled[]} compiled @returns {Compiled} */
function constant(array, compiled) {
  return (vars) => {
    let value = array;
    for (const index of compiled) {
      // Evaluated even where the array is not in the trace: the indices are cells that were read.
      const place = /** @type {number} */ (index(vars));
      value = value?.[place];
    }
    return value ?? NULL;
  };
}

/** @param {Expr} expr @param {Context} context @returns {Compiled} */
function previous(expr, context) {
  if (!context.prev) return () => NULL;
  return compile(expr, { ...context, step: context.prev, prev: null, sink: null, controlSink: null });
}

/**
 * The same value; its cells decide an order and are no inputs.
 * @param {Expr} expr
 * @param {Context} context
 * @returns {Compiled}
 */
function control(expr, context) {
  const inner = compile(expr, context);
  return (vars) => {
    const outer = context.sink;
    context.sink = context.controlSink;
    const value = inner(vars);
    context.sink = outer;
    return value;
  };
}

/**
 * The last index whose value is at most the one given.
 * @param {string} name
 * @param {Expr} expr
 * @param {Context} context
 * @returns {Compiled}
 */
function bisect(name, expr, context) {
  const wanted = compile(expr, context);
  const numbers = context.step.space(name)?.numbers;
  if (!numbers) return () => NULL;
  return (vars) => {
    const value = wanted(vars);
    if (isNull(value)) return NULL;
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[middle] <= /** @type {number} */ (value)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
}

/** @param {string} name @param {Expr} expr @param {Context} context @returns {Compiled} */
function find(name, expr, context) {
  const wanted = compile(expr, context);
  const space = context.step.space(name);
  if (!space) return () => NULL;
  /** @type {Map<Value, number> | null} */
  let index = null;
  return (vars) => {
    if (!index) {
      index = new Map();
      for (let entry = space.size - 1; entry >= 0; entry -= 1) index.set(space.value(entry), entry);
    }
    const value = wanted(vars);
    return isNull(value) ? NULL : (index.get(value) ?? NULL);
  };
}

/** @param {string} name @param {Expr[]} indices @param {Context} context @returns {Compiled} */
function rowLength(name, indices, context) {
  const compiled = indices.map((index) => compile(index, context));
  const space = context.step.space(name);
  if (!space) return () => NULL;
  return (vars) => space.knownRowLength(compiled.map((index) => /** @type {number} */ (index(vars)))) ?? NULL;
}
