// @ts-check
/**
 * A trace as it comes from the server, turned into flat arrays that are cheap to index.
 *
 * In: the nested lists of `step.spaces[name]`. Out: one `Space` per tensor. Every dimension below the
 * first is stored as row offsets (CSR), so a ragged block table and a rectangular one are read the same way.
 * A number that is not known (`null` in the trace) is NaN in here; ids beyond 2^31 stay exact, a double
 * holds integers up to 2^53.
 */

/** @typedef {{dims: string[], dtype: string, values: any[]}} SpaceJson */
/** @typedef {{name: string, holds: boolean, message: string, cells: {space: string, at: number[]}[]}} Check */
/** @typedef {{kind: string, req_id: string, req_state_idx?: number, [key: string]: any}} TraceEvent */
/**
 * @typedef {object} StepJson
 * @property {number} index
 * @property {number} num_reqs
 * @property {number} num_tokens
 * @property {number} num_reqs_padded
 * @property {number} num_tokens_padded
 * @property {string} cudagraph_mode
 * @property {string[]} req_ids
 * @property {Record<string, number>} req_id_to_index
 * @property {number[]} free_indices
 * @property {TraceEvent[]} events
 * @property {Record<string, SpaceJson>} spaces
 * @property {Check[]} checks
 * @property {Record<string, string>} sentences  of the stages that have something to say, in the reader's language
 * @property {Record<string, any>} [kv_cache]  use of the pool, in numbers
 */
/** @typedef {number | string} Value  a NaN number stands for "not known" */

export class Space {
  /**
   * @param {string} name
   * @param {SpaceJson} json
   */
  constructor(name, json) {
    this.name = name;
    this.dims = json.dims;
    this.dtype = json.dtype;
    /** offsets[k][i]..offsets[k][i+1]: the children of entry i of dimension k in dimension k+1 */
    /** @type {Int32Array[]} */
    this.offsets = [];
    let level = json.values;
    for (let dim = 0; dim + 1 < json.dims.length; dim += 1) {
      const offsets = new Int32Array(level.length + 1);
      /** @type {any[]} */
      const next = [];
      for (let entry = 0; entry < level.length; entry += 1) {
        const children = level[entry] ?? [];
        for (const child of children) next.push(child);
        offsets[entry + 1] = next.length;
      }
      this.offsets.push(offsets);
      level = next;
    }
    /** Entries of the first dimension. */
    this.length = json.dims.length > 1 ? json.values.length : level.length;
    /** All cells, row after row. */
    this.size = level.length;
    /** @type {Float64Array | null} */
    this.numbers = null;
    /** @type {(string | null)[] | null} */
    this.strings = null;
    if (json.dtype === 'str') {
      this.strings = level;
    } else {
      const numbers = new Float64Array(level.length);
      for (let cell = 0; cell < level.length; cell += 1) {
        const value = level[cell];
        numbers[cell] = value === null ? NaN : Number(value);
      }
      this.numbers = numbers;
    }
  }

  /**
   * Flat index of a cell, -1 where there is none.
   * @param {ArrayLike<number>} at
   */
  find(at) {
    const first = at[0];
    if (at.length !== this.dims.length || !(first >= 0 && first < this.length)) return -1;
    let cell = first;
    for (let dim = 0; dim < this.offsets.length; dim += 1) {
      const offsets = this.offsets[dim];
      const child = at[dim + 1];
      const start = offsets[cell];
      if (!(child >= 0 && child < offsets[cell + 1] - start)) return -1;
      cell = start + child;
    }
    return cell;
  }

  /**
   * Coordinates of a flat index.
   * @param {number} cell
   * @returns {number[]}
   */
  at(cell) {
    const at = new Array(this.dims.length);
    for (let dim = this.offsets.length - 1; dim >= 0; dim -= 1) {
      const offsets = this.offsets[dim];
      let low = 0;
      let high = offsets.length - 1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (offsets[middle] <= cell) low = middle;
        else high = middle;
      }
      // Empty rows share a start; the last of them is the one that holds the cell.
      at[dim + 1] = cell - offsets[low];
      cell = low;
    }
    at[0] = cell;
    return at;
  }

  /**
   * @param {number} cell flat index
   * @returns {Value}
   */
  value(cell) {
    if (this.numbers) return this.numbers[cell];
    return /** @type {any[]} */ (this.strings)[cell] ?? NaN;
  }

  /**
   * @param {ArrayLike<number>} at
   * @returns {Value} NaN where there is no such cell or it is not known
   */
  get(at) {
    const cell = this.find(at);
    return cell < 0 ? NaN : this.value(cell);
  }

  /**
   * Number of entries below a prefix of coordinates: `rowLength([0, 7])` of a block table is how many ids row 7 has.
   * @param {ArrayLike<number>} prefix
   */
  rowLength(prefix) {
    return this.knownRowLength(prefix) ?? 0;
  }

  /** The same, null where there is no such row. @param {ArrayLike<number>} prefix */
  knownRowLength(prefix) {
    if (prefix.length === 0) return this.length;
    let cell = prefix[0];
    if (!(cell >= 0 && cell < this.length)) return null;
    for (let dim = 0; dim < prefix.length; dim += 1) {
      const offsets = this.offsets[dim];
      const length = offsets[cell + 1] - offsets[cell];
      if (dim === prefix.length - 1) return length;
      const child = prefix[dim + 1];
      if (!(child >= 0 && child < length)) return null;
      cell = offsets[cell] + child;
    }
    return null;
  }

  /** Longest extent of the last dimension. */
  widest() {
    if (this.offsets.length === 0) return this.length;
    const offsets = this.offsets[this.offsets.length - 1];
    let widest = 0;
    for (let row = 0; row + 1 < offsets.length; row += 1) widest = Math.max(widest, offsets[row + 1] - offsets[row]);
    return widest;
  }
}

export class Step {
  /** @param {StepJson} json */
  constructor(json) {
    this.json = json;
    this.index = json.index;
    this.numReqs = json.num_reqs;
    this.numTokens = json.num_tokens;
    /** @type {Map<string, Space>} */
    this.spaces = new Map();
    for (const [name, space] of Object.entries(json.spaces)) this.spaces.set(name, new Space(name, space));
    /**
     * The row of every request in the pool, in the order the pool hands rows out: an object would sort names like numbers.
     * @type {Map<string, number>}
     */
    this.rows = new Map(Object.entries(json.req_id_to_index ?? {}).sort(([, a], [, b]) => b - a));
    /** What a formula may name besides cells. @type {Record<string, number>} */
    this.scalars = { step_index: json.index };
    for (const [key, value] of Object.entries(json)) if (typeof value === 'number') this.scalars[key] = value;
  }

  /** @param {string} name */
  space(name) {
    return this.spaces.get(name) ?? null;
  }

  /**
   * How many entries there are along an axis, without what pads it: that is along another dimension.
   * @param {string} axis
   */
  entries(axis) {
    for (const space of this.spaces.values()) {
      const grouped = isGrouped(space.dims);
      if (space.dims[grouped ? 1 : 0] === axis) return grouped ? space.rowLength([0]) : space.length;
    }
    return 0;
  }

  /** True for a step that schedules nothing. */
  get empty() {
    return this.numReqs === 0;
  }
}

/**
 * @param {Value | null | undefined} value
 * @returns {boolean}
 */
export function isNull(value) {
  return value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value));
}

/**
 * Whether the first dimension of a space only says whose its entries are, which are along the second then.
 * @param {string[]} dims
 */
export function isGrouped(dims) {
  return dims[0] === 'group' && dims.length > 1;
}

/**
 * The form of a cell in addresses and in data-cell: `slot_mappings.0.3`.
 * @param {string} space
 * @param {ArrayLike<number>} at
 */
export function cellKey(space, at) {
  return `${space}.${Array.prototype.join.call(at, '.')}`;
}

/**
 * @param {string} key
 * @returns {{space: string, at: number[]} | null}
 */
export function parseCellKey(key) {
  const match = /^([a-z][a-z0-9_]{0,63})((?:\.\d{1,8}){1,8})$/.exec(key);
  if (!match) return null;
  return { space: match[1], at: match[2].slice(1).split('.').map(Number) };
}
