// @ts-check
/**
 * A cell's formula with the numbers filled in, as a list of pieces to print.
 *
 * In: an expression, the variables of the cell. Out: pieces in reading order; a number that is itself a cell
 * carries its address, so the page can make it a link.
 */
import { compile, truthy } from './expr.js';
import { isNull } from './trace.js';

/** @typedef {import('./expr.js').Context} Context */
/** @typedef {import('./trace.js').Value} Value */
/** @typedef {{space: string, at: number[], step: number}} CellRef */
/**
 * @typedef {object} Piece
 * @property {'number' | 'cell' | 'operator' | 'name'} kind  a `name` is what a bare look-up looks in
 * @property {string} text
 * @property {Value} [value]
 * @property {string} [label]  what the number is: a space, a variable, a constant
 * @property {CellRef | null} [ref]
 * @property {boolean} [unknown]
 */

/** @type {Record<string, number>} */
const BINDING = {
  or: 1,
  and: 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '//': 5,
  '%': 5,
};

/**
 * @param {import('./expr.js').Expr} expr
 * @param {Context} context
 * @param {Value[]} vars
 * @param {Record<string, string>} symbols how operators are printed
 * @returns {Piece[]}
 */
export function formulaPieces(expr, context, vars, symbols) {
  /** @type {Piece[]} */
  const pieces = [];
  print(expr, 0, { context, vars, symbols, pieces });
  return pieces;
}

/**
 * The same for a cell's own formula: where that is a bare look-up its value says nothing, so the look-up itself is
 * printed, `block_tables[0, 7, 1]`, each index a link.
 * @param {import('./expr.js').Expr} expr
 * @param {Context} context
 * @param {Value[]} vars
 * @param {Record<string, string>} symbols
 * @returns {Piece[]}
 */
export function cellFormula(expr, context, vars, symbols) {
  if (!Array.isArray(expr)) return formulaPieces(expr, context, vars, symbols);
  const [head, ...operands] = expr;
  if (head === 'control') return cellFormula(operands[0], context, vars, symbols);
  if (head === 'if')
    return cellFormula(truthy(compile(operands[0], context)(vars)) ? operands[1] : operands[2], context, vars, symbols);
  if (head === 'prev' && context.prev) return cellFormula(operands[0], previousOf(context), vars, symbols);
  if (head !== '@' || operands.length < 2) return formulaPieces(expr, context, vars, symbols);
  const [name, ...indices] = operands;
  const { label, ref, value } = leaf(name, indices, context, vars);
  /** @type {Piece[]} */
  const pieces = [{ kind: 'name', text: name, label, ref, value }];
  indices.forEach((/** @type {import('./expr.js').Expr} */ index, /** @type {number} */ place) => {
    pieces.push({ kind: 'operator', text: place > 0 ? ', ' : '[' });
    print(index, 0, { context, vars, symbols, pieces });
  });
  pieces.push({ kind: 'operator', text: ']' });
  return pieces;
}

/** @param {Piece[]} pieces */
export function formulaText(pieces) {
  return pieces.map((piece) => piece.text).join('');
}

/**
 * @param {import('./expr.js').Expr} expr
 * @param {number} outer binding of the operator around it
 * @param {{context: Context, vars: Value[], symbols: Record<string, string>, pieces: Piece[]}} out
 */
function print(expr, outer, out) {
  const { context, vars, pieces } = out;
  const operator = (/** @type {string} */ text) => pieces.push({ kind: 'operator', text });
  if (!Array.isArray(expr)) {
    const value = compile(expr, context)(vars);
    pieces.push({
      kind: 'number',
      text: show(value),
      value,
      label: typeof expr === 'string' ? expr : undefined,
      unknown: isNull(value),
    });
    return;
  }
  const [head, ...operands] = expr;
  if (head === '@') {
    pieces.push(leaf(operands[0], operands.slice(1), context, vars));
  } else if (head === 'prev') {
    printPrevious(operands[0], outer, out);
  } else if (head === 'control') {
    print(operands[0], outer, out);
  } else if (head === 'if') {
    print(truthy(compile(operands[0], context)(vars)) ? operands[1] : operands[2], outer, out);
  } else if (head === 'str' || head === 'find' || head === 'bisect' || head === 'len') {
    const value = compile(expr, context)(vars);
    pieces.push({
      kind: 'number',
      text: show(value),
      value,
      label: head === 'str' ? undefined : `${head}(${operands[0]})`,
      unknown: isNull(value),
    });
  } else if (head in BINDING && operands.length > 1) {
    const binding = BINDING[head];
    if (binding < outer) operator('(');
    operands.forEach((/** @type {any} */ operand, /** @type {number} */ place) => {
      if (place > 0) operator(` ${out.symbols[head] ?? head} `);
      print(operand, place > 0 ? binding + 1 : binding, out);
    });
    if (binding < outer) operator(')');
  } else {
    operator(`${head === '-' ? '-' : (out.symbols[head] ?? head)}(`);
    operands.forEach((/** @type {any} */ operand, /** @type {number} */ place) => {
      if (place > 0) operator(', ');
      print(operand, 0, out);
    });
    operator(')');
  }
}

/** @param {any} expr @param {number} outer @param {Parameters<typeof print>[2]} out */
function printPrevious(expr, outer, out) {
  const prev = out.context.prev;
  if (!prev) {
    out.pieces.push({ kind: 'number', text: '?', value: NaN, unknown: true });
    return;
  }
  print(expr, outer, { ...out, context: previousOf(out.context) });
}

/** @param {Context} context @returns {Context} */
function previousOf(context) {
  return { ...context, step: context.prev ?? context.step, prev: null, sink: null, controlSink: null };
}

/**
 * @param {string} name
 * @param {any[]} indices
 * @param {Context} context
 * @param {Value[]} vars
 * @returns {Piece}
 */
export function leaf(name, indices, context, vars) {
  const at = indices.map((index) => /** @type {number} */ (compile(index, context)(vars)));
  const value = compile(['@', name, ...indices], context)(vars);
  const space = context.step.space(name);
  const label = indices.length > 0 ? `${name}[${at.map(show).join(', ')}]` : name;
  if (!space && !(name in context.constants)) return { kind: 'cell', text: label, value, label: name, ref: null };
  const ref = space && space.find(at) >= 0 ? { space: name, at, step: context.step.index } : null;
  return { kind: ref ? 'cell' : 'number', text: show(value), value, label, ref, unknown: isNull(value) };
}

/**
 * A formula in names, before any number is filled in: `positions // block_size`.
 * @param {import('./expr.js').Expr} expr
 * @param {number} [outer]
 * @returns {string}
 */
export function symbolic(expr, outer = 0) {
  if (!Array.isArray(expr)) return String(expr);
  const [head, ...operands] = expr;
  if (head === '@') return operands[0];
  if (head === 'str') return operands[0];
  if (head === 'control') return symbolic(operands[0], outer);
  if (head === 'prev') return symbolic(operands[0], outer);
  if (head === 'if') return `${symbolic(operands[1], 1)} if ${symbolic(operands[0], 1)} else ${symbolic(operands[2], 1)}`;
  if (head in BINDING && operands.length > 1) {
    const binding = BINDING[head];
    const text = operands
      .map((/** @type {any} */ operand, /** @type {number} */ place) => symbolic(operand, place > 0 ? binding + 1 : binding))
      .join(` ${head} `);
    return binding < outer ? `(${text})` : text;
  }
  return `${head}(${operands.map((/** @type {any} */ operand) => symbolic(operand)).join(', ')})`;
}

/** Index space -> how a look-up names an index into it. @type {Record<string, string>} */
const SHORT = {
  req_state_idx: 'row',
  batch_idx: 'row',
  block_index: 'block',
  flat_token_idx: 'token',
  position: 'position',
};

/**
 * A bare look-up in names: `block_tables[row][block]`; '' for anything else.
 * @param {import('./expr.js').Expr} expr
 * @param {(space: string) => string | null | undefined} holds  the index space that a space's values are in
 */
export function lookUp(expr, holds) {
  if (!Array.isArray(expr) || expr[0] !== '@' || expr.length < 3) return '';
  const [, name, ...indices] = expr;
  const words = indices
    .filter((/** @type {any} */ index) => index !== 'group')
    .map((/** @type {any} */ index) => {
      const space = Array.isArray(index) && index[0] === '@' ? (holds(index[1]) ?? index[1]) : index;
      return typeof space === 'string' ? `[${SHORT[space] ?? space}]` : '';
    });
  return words.every(Boolean) ? name + words.join('') : '';
}

/** @param {Value | null | undefined} value */
export function show(value) {
  if (isNull(value)) return '?';
  return String(value);
}
