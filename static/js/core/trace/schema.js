// @ts-check
/**
 * The server's description of its stages and spaces (`GET /api/spaces`), indexed for look-up. It is all that the page knows
 * of them: their order, how they are drawn and stepped through, what is asked.
 *
 * In: the schema JSON. Out: definitions by name, spaces by stage, who is computed from whom.
 */
import { spacesOf } from './expr.js';

/** @typedef {import('./expr.js').Expr} Expr */
/**
 * What a cell is besides plain data.
 * @typedef {'data' | 'stale' | 'freed' | 'unused' | 'null' | 'padding' | 'unknown' | 'missing' | 'not_local' | 'rejected' |
 *   'none'} State
 */
/**
 * How a cell follows from others, where `when` holds. The cells of `formula` and `inputs` are read, those of `control`
 * only order it.
 * Other lines than the space's own may compute its cells: `source`.
 * @typedef {object} Case
 * @property {Expr} when
 * @property {Expr} formula
 * @property {string} note
 * @property {State} state
 * @property {Expr[]} [inputs]
 * @property {Expr[]} [control]
 * @property {Source | null} [source]
 */
/**
 * A part of the pipeline.
 * @typedef {object} Stage
 * @property {string} name
 * @property {number | null} tier  stages of one tier stand side by side; null: it has its own place above the board
 * @property {{space: string, axis: string} | null} elements  what it is stepped through by: the space whose cells stand for
 *   its elements, and the index they are counted by
 * @property {string | null} asks  the space that it finds out, kept back while a room is asked
 */
/**
 * How a dimension is drawn.
 * @typedef {object} Axis
 * @property {string} axis  the axis it is drawn along: itself, or the one that it is longer than by padding
 * @property {boolean} across  entries are columns (tokens), not rows (requests)
 * @property {string | null} tag  the space that stands in front of every entry, not in a line of its own
 */
/** @typedef {{file: string, first_line: number, lines: string[]}} SourceFunction */
/** @typedef {SourceFunction & {symbol: string, mark: number[]}} Source */
/** Lines of a function as the server sends them. @typedef {{symbol: string, mark: number[]} | null} Marked */
/**
 * @typedef {object} SpaceDef
 * @property {string[]} dims
 * @property {string} dtype
 * @property {string} stage
 * @property {'count' | 'id' | 'index' | 'flag' | 'text'} kind
 * @property {string | null} holds
 * @property {string} exactness
 * @property {boolean} is_key  its line stays when its stage is not the one at hand
 * @property {boolean} is_detail  no line of its own in the tables of its stage
 * @property {boolean} is_own  a name of PageWalk's own, which no tensor of vLLM has
 * @property {Source | null} source
 * @property {{file: string, symbol: string} | null} vllm
 * @property {Case[]} cases
 */
/**
 * @typedef {object} SchemaJson
 * @property {number} version
 * @property {Stage[]} stages  in the order of the pipeline
 * @property {Record<string, Axis>} axes  by dimension
 * @property {Record<string, Omit<SpaceDef, 'source' | 'cases'> & {source: Marked, cases: (Omit<Case, 'source'> & {source?:
 *   Marked})[]}>} spaces
 * @property {Record<string, SourceFunction>} [sources] functions by symbol
 * @property {{name: string, expr: Expr}[]} coordinates
 * @property {string[]} walk
 * @property {Record<string, string>} [symbols]
 */

/** What stands for all stages at once where one could be named. */
export const ALL = 'all';

export class Schema {
  /** @param {SchemaJson} json */
  constructor(json) {
    this.json = json;
    this.stages = json.stages;
    /** @type {readonly string[]} in the order of the pipeline */
    this.stageNames = json.stages.map(({ name }) => name);
    this.tags = new Set(Object.values(json.axes).map(({ tag }) => tag));
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
    this.writtenBack = writtenBack(this.spaces);
  }

  /** The stage where a step begins. */
  get firstStage() {
    return this.stageNames[0];
  }

  /** The stage where a step ends. */
  get lastStage() {
    return this.stageNames[this.stageNames.length - 1];
  }

  /** @param {string} name */
  stage(name) {
    return this.stages.find((stage) => stage.name === name) ?? null;
  }

  /** Whether a name is that of a stage, or of all of them. @param {string} name */
  isView(name) {
    return name === ALL || this.stageNames.includes(name);
  }

  /** Names of the stages side by side on the board, top to bottom. @returns {string[][]} */
  get tiers() {
    /** @type {Map<number, string[]>} */
    const tiers = new Map();
    for (const { name, tier } of this.stages) if (tier !== null) tiers.set(tier, [...(tiers.get(tier) ?? []), name]);
    return [...tiers].sort(([a], [b]) => a - b).map(([, names]) => names);
  }

  /** The axis that a dimension is drawn along. @param {string} dim */
  axisOf(dim) {
    return this.json.axes[dim]?.axis ?? dim;
  }

  /** Whether entries along an axis are columns. @param {string} dim */
  isAcross(dim) {
    return this.json.axes[dim]?.across ?? false;
  }

  /** The space shown in front of every entry along an axis. @param {string} dim */
  tagOf(dim) {
    return this.json.axes[dim]?.tag ?? null;
  }

  /** Whether the numbers of a space are counts, lengths or bytes, and no names of anything. @param {string} name */
  isCount(name) {
    return this.spaces.get(name)?.kind === 'count';
  }

  /** Whether a space is a line of its own in the tables of its stage. @param {string} name */
  hasLine(name) {
    return !this.tags.has(name) && !this.spaces.get(name)?.is_detail;
  }

  /** Whether the line of a space stays when its stage is not the one at hand. @param {string} name */
  isKey(name) {
    return this.spaces.get(name)?.is_key ?? false;
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

/**
 * What the next step finds written back: a space of the pool whose cells are those of another space of the step before, each
 * at the entry that a third one maps to its row.
 * @param {Map<string, SpaceDef>} spaces
 * @returns {Map<string, {into: string, through: string}>} by the space that is written back
 */
function writtenBack(spaces) {
  /** @type {Map<string, {into: string, through: string}>} */
  const found = new Map();
  for (const [into, { dims, cases }] of spaces) {
    for (const { formula } of cases) {
      const read = Array.isArray(formula) && formula[0] === 'prev' ? formula[1] : null;
      if (!Array.isArray(read) || read[0] !== '@' || read.length !== 3) continue;
      const [, from, index] = read;
      if (dims.length === 1 && Array.isArray(index) && index[0] === 'find' && index[2] === dims[0])
        found.set(from, { into, through: index[1] });
    }
  }
  return found;
}
