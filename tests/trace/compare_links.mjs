// @ts-check
/**
 * The page's reader of links beside the server's, over every cell of a trace.
 *
 * In, on stdin: the schema; then a line for each `trace` and what is `expected` of it, as the server's reader says it: for
 * each step and space the cells in flat order as [case, value of the formula, inputs, controls], some of them with their
 * coordinates as a fifth; or expressions, each with its value in the last step. Out, a line for each: the first differences
 * as text, and formulas printed with their numbers, each with the value it must have.
 */
import { createInterface } from 'node:readline';
import { compile } from '../../static/js/core/trace/expr.js';
import { explain } from '../../static/js/core/trace/explain.js';
import { formulaText } from '../../static/js/core/trace/formula.js';
import { Links } from '../../static/js/core/trace/links.js';
import { Schema } from '../../static/js/core/trace/schema.js';
import { Step, isNull } from '../../static/js/core/trace/trace.js';

const MOST = 20;

/** @type {Schema} */
let schema;
/** @type {any} */
let trace;
/** @type {Step[]} */
let steps = [];
/** @type {string[]} */
let differences = [];
/** @type {Map<string, any>} */
let printed = new Map();
let count = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const json = JSON.parse(line);
  if (!json.trace) {
    schema = new Schema(json);
    continue;
  }
  trace = json.trace;
  steps = trace.steps.map((/** @type {any} */ step) => new Step(step));
  differences = [];
  printed = new Map();
  count = 0;
  json.expected.forEach((/** @type {any} */ of, /** @type {number} */ index) =>
    Array.isArray(of)
      ? compareValue(of[0], of[1])
      : compareStep(new Links(schema, trace.constants, steps[index], steps[index - 1] ?? null), of),
  );
  console.log(JSON.stringify({ count, differences: differences.slice(0, MOST), printed: [...printed] }));
}

/** @param {any} expression @param {any} wanted */
function compareValue(expression, wanted) {
  const [step, prev] = [steps[steps.length - 1], steps[steps.length - 2]];
  const context = { step, prev, constants: trace.constants, slots: new Map(), sink: null, controlSink: null };
  const value = compile(expression, context)([]);
  if (!isSame(value, wanted)) differences.push(`${JSON.stringify(expression)} is ${value}, not ${wanted}`);
}

/** @param {Links} links @param {Record<string, any[]>} spaces */
function compareStep(links, spaces) {
  /** @type {Map<number, Set<number>>} cell -> the cells that are computed from it */
  const outputs = new Map();
  for (const [name, cells] of Object.entries(spaces)) {
    const space = links.step.space(name);
    if (space?.size !== cells.length) {
      differences.push(`step ${links.step.index} ${name}: ${space?.size} cells, not ${cells.length}`);
      continue;
    }
    cells.forEach(([wantedCase, wanted, inputs, controls, coordinates], cell) => {
      count += 1;
      const at = space.at(cell);
      const tell = (/** @type {string} */ what, /** @type {any} */ got, /** @type {any} */ want) => {
        if (differences.length < MOST)
          differences.push(
            `step ${links.step.index} ${name}[${at}] ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`,
          );
      };
      const program = /** @type {import('../../static/js/core/trace/program.js').Program} */ (links.program(name));
      const found = program.caseOf(at, space.value(cell));
      if (found?.index !== wantedCase) return tell('case', found?.index, wantedCase);
      if (found.formula) {
        const value = found.formula(program.vars);
        if (!isSame(value, wanted)) tell('value', value, wanted);
      }
      const [theirs, order] = [inputs, controls].map(
        (refs) => new Set(refs.map((/** @type {any} */ ref) => idOf(links, ref))),
      );
      const ours = new Set(links.inputs(name, cell));
      if (!isSameSet(ours, theirs)) tell('inputs', named(links, ours), inputs);
      const controlled = new Set(links.controls(name, cell));
      if (!isSameSet(controlled, order)) tell('controls', named(links, controlled), controls);
      const id = links.id(name, cell);
      for (const from of theirs) outputs.set(from, (outputs.get(from) ?? new Set()).add(id));
      if (coordinates) compareExplanation(links, name, at, schema.json.spaces[name].cases[wantedCase], coordinates, tell);
    });
  }
  // The way back, once all of it is prepared, and the same way forth from what was kept.
  while (!links.warm());
  for (let id = 0; id < links.total; id += 1) {
    const { space, cell } = links.cellOf(id);
    const found = new Set(links.outputs(space.name, cell));
    if (!isSameSet(found, outputs.get(id) ?? new Set()))
      differences.push(`step ${links.step.index} ${space.name}[${space.at(cell)}] outputs: ${named(links, found)}`);
    for (const from of links.inputs(space.name, cell))
      if (!outputs.get(from)?.has(id))
        differences.push(`${space.name}[${space.at(cell)}] kept input ${named(links, [from])}`);
  }
}

/**
 * @param {Links} links
 * @param {string} name
 * @param {number[]} at
 * @param {any} one the case
 * @param {Record<string, any>} coordinates
 * @param {(what: string, got: any, want: any) => void} tell
 */
function compareExplanation(links, name, at, one, coordinates, tell) {
  const said = /** @type {import('../../static/js/core/trace/explain.js').Explanation} */ (explain(links, name, at));
  if (said.note !== one.note) tell('note', said.note, one.note);
  const { value: _, ...known } = said.params;
  if (JSON.stringify(Object.entries(known).sort()) !== JSON.stringify(Object.entries(coordinates).sort()))
    tell('coordinates', known, coordinates);
  const cell = /** @type {import('../../static/js/core/trace/trace.js').Space} */ (links.step.space(name)).find(at);
  const read = new Set([...links.inputs(name, cell), ...links.controls(name, cell)]);
  for (const { ref } of said.formula)
    if (ref && ref.step === links.step.index && !read.has(idOf(links, [ref.space, ...ref.at])))
      tell('a number of the formula', ref, 'one of the cells that were read');
  const line = formulaText(said.formula);
  if (!isNull(said.value) && /^[-+*/%() 0-9]+$/.test(line)) printed.set(line, said.value);
}

/** @param {Links} links @param {[string, ...number[]]} ref */
function idOf(links, [name, ...at]) {
  return links.id(name, links.step.space(name)?.find(at) ?? -1);
}

/** @param {Links} links @param {Iterable<number>} ids */
function named(links, ids) {
  return [...ids].map((id) => {
    const { space, cell } = links.cellOf(id);
    return `${space.name}[${space.at(cell)}]`;
  });
}

/** @param {any} value @param {any} wanted as JSON: true is 1, null is not known */
function isSame(value, wanted) {
  if (wanted === null) return isNull(value);
  return value === (typeof wanted === 'boolean' ? Number(wanted) : wanted);
}

/** @param {Set<number>} one @param {Set<number>} other */
function isSameSet(one, other) {
  return one.size === other.size && [...one].every((id) => other.has(id));
}
