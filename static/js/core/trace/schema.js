// @ts-check
/**
 * The server's description of its spaces (`GET /api/spaces`), indexed for look-up.
 *
 * In: the schema JSON. Out: definitions by name, spaces by stage, who is computed from whom.
 */
import { spacesOf } from './expr.js';

/** @typedef {import('./expr.js').Expr} Expr */
/**
 * How a cell follows from others, where `when` holds. The cells of `formula` and `inputs` are read, those of `control`
 * only order it.
 * Other lines than the space's own may compute its cells: `source`.
 * @typedef {{when: Expr, formula: Expr, note: string, inputs?: Expr[], control?: Expr[], source?: Source | null}} Case
 */
/** @typedef {{file: string, first_line: number, lines: string[]}} SourceFunction */
/** @typedef {SourceFunction & {symbol: string, mark: number[]}} Source */
/** Lines of a function as the server sends them. @typedef {{symbol: string, mark: number[]} | null} Marked */
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
 * @property {Record<string, Omit<SpaceDef, 'source' | 'cases'> & {source: Marked, cases: (Omit<Case, 'source'> & {source?:
 *   Marked})[]}>} spaces
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
    const withCode = (/** @type {Marked | undefined} */ marked) => {
      const code = marked && json.sources?.[marked.symbol];
      return marked && code ? { ...code, ...marked } : null;
    };
    for (const [name, { source, cases, ...def }] of Object.entries(json.spaces)) {
      const explained = cases.map((one) => ({ ...one, source: withCode(one.source) }));
      this.spaces.set(name, { ...def, source: withCode(source), cases: explained });
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
