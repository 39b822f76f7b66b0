// @ts-check
/**
 * The server's description of its spaces (`GET /api/spaces`), indexed for look-up.
 *
 * In: the schema JSON. Out: definitions by name, spaces by stage, who is computed from whom.
 */
import { spacesOf } from './expr.js';

/** @typedef {import('./expr.js').Expr} Expr */
/**
 * How a cell follows from others, where `when` holds. The cells of `formula` and `inputs` are read, those of `control` only order it.
 * @typedef {{when: Expr, formula: Expr, note: string, inputs?: Expr[], control?: Expr[]}} Case
 */
/** @typedef {{file: string, first_line: number, lines: string[]}} SourceFunction */
/** @typedef {SourceFunction & {symbol: string, mark: number[]}} Source */
/**
 * @typedef {object} SpaceDef
 * @property {string[]} dims
 * @property {string} dtype
 * @property {string} stage
 * @property {string | null} holds
 * @property {string} exactness
 * @property {Source | null} source
 * @property {{file: string, symbol: string} | null} vllm
 * @property {Case[]} cases
 */
/**
 * @typedef {object} SchemaJson
 * @property {number} version
 * @property {Record<string, Omit<SpaceDef, 'source'> & {source: {symbol: string, mark: number[]} | null}>} spaces
 * @property {Record<string, SourceFunction>} [sources] functions by symbol
 * @property {{name: string, expr: Expr}[]} coordinates
 * @property {string[]} walk
 * @property {Record<string, string>} [symbols]
 */

export const STAGES = ['schedule', 'state-pool', 'batch', 'flatten', 'block-tables', 'slot-mapping', 'kv-cache', 'update'];

export class Schema {
  /** @param {SchemaJson} json */
  constructor(json) {
    this.json = json;
    /** @type {Map<string, SpaceDef>} */
    this.spaces = new Map();
    for (const [name, { source, ...def }] of Object.entries(json.spaces)) {
      const code = source && json.sources?.[source.symbol];
      this.spaces.set(name, { ...def, source: source && code ? { ...code, ...source } : null });
    }
    this.coordinates = json.coordinates;
    this.walk = json.walk;
    this.symbols = json.symbols ?? {};
    /** @type {Map<string, string[]>} target -> spaces whose formula reads it */
    this.consumers = new Map();
    for (const [name, def] of this.spaces) {
      const read = new Set();
      for (const one of def.cases) for (const expr of [one.formula, ...(one.inputs ?? [])]) spacesOf(expr, read);
      for (const target of read) {
        const list = this.consumers.get(target);
        if (list) list.push(name);
        else this.consumers.set(target, [name]);
      }
    }
  }

  /** @param {string} name */
  def(name) {
    return this.spaces.get(name) ?? null;
  }

  /** Names of the spaces of a stage, in the order the server declares them. @param {string} stage */
  ofStage(stage) {
    return [...this.spaces].filter(([, def]) => def.stage === stage).map(([name]) => name);
  }
}
