// @ts-check
/**
 * Which cells a cell was computed from and which were computed from it, for one step.
 *
 * Every cell of a step has one number: the base of its space plus its flat index. A space's formulas are run
 * over all its cells at most once, the first time somebody asks, and kept as CSR arrays in both directions.
 */
import { Program } from './program.js';

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {import('./trace.js').Space} Space */
/** @typedef {{offsets: Int32Array, cells: Int32Array}} Csr */

export const LIT = { none: 0, self: 1, input: 2, output: 3, walk: 4, control: 5 };

export class Links {
  /**
   * @param {import('./schema.js').Schema} schema
   * @param {Record<string, any>} constants
   * @param {Step} step
   * @param {Step | null} prev
   */
  constructor(schema, constants, step, prev) {
    this.schema = schema;
    this.step = step;
    this.prev = prev;
    /** @type {Map<string, number>} */
    const slots = new Map([['value', 0]]);
    const declare = (/** @type {string} */ name) => {
      if (!slots.has(name)) slots.set(name, slots.size);
    };
    for (const def of schema.spaces.values()) def.dims.forEach(declare);
    for (const entry of schema.coordinates) declare(entry.name);
    /** @type {import('./expr.js').Context} */
    this.context = { step, prev, constants, slots, sink: null, controlSink: null };
    /** @type {Space[]} spaces that have cells and a definition, in trace order */
    this.order = [...step.spaces.values()].filter((space) => space.size > 0 && schema.def(space.name));
    this.bases = new Int32Array(this.order.length + 1);
    /** @type {Map<string, number>} */
    this.base = new Map();
    this.order.forEach((space, place) => {
      this.base.set(space.name, this.bases[place]);
      this.bases[place + 1] = this.bases[place] + space.size;
    });
    this.total = this.bases[this.order.length];
    /** @type {Map<string, Program>} */
    this.programs = new Map();
    /** @type {Map<string, Csr>} */
    this.forward = new Map();
    /** @type {Map<string, Csr>} */
    this.backward = new Map();
  }

  /** @param {string} name @returns {Program | null} */
  program(name) {
    const known = this.programs.get(name);
    if (known) return known;
    const def = this.schema.def(name);
    const space = this.step.space(name);
    if (!def || !space) return null;
    const program = new Program(def, this.schema, space, this.context);
    this.programs.set(name, program);
    return program;
  }

  /** @param {string} space @param {number} cell flat index */
  id(space, cell) {
    return /** @type {number} */ (this.base.get(space)) + cell;
  }

  /** @param {number} id @returns {{space: Space, cell: number}} */
  cellOf(id) {
    let low = 0;
    let high = this.order.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.bases[middle] <= id) low = middle;
      else high = middle;
    }
    return { space: this.order[low], cell: id - this.bases[low] };
  }

  /**
   * Cells that the formula of a cell reads.
   * @param {string} space
   * @param {number} cell
   * @returns {ArrayLike<number> & Iterable<number>}
   */
  inputs(space, cell) {
    return this.#read(space, cell, false);
  }

  /**
   * Cells that decide the order a cell stands in.
   * @param {string} space
   * @param {number} cell
   * @returns {ArrayLike<number> & Iterable<number>}
   */
  controls(space, cell) {
    return this.#read(space, cell, true);
  }

  /**
   * Cells that decide an order or a running sum on the way to a cell: those of everything it was computed from, and what
   * they follow from in turn.
   * @param {string} name
   * @param {number} cell
   * @returns {Set<number>}
   */
  ordering(name, cell) {
    const from = new Set([this.id(name, cell)]);
    /** @type {Set<number>} */
    const order = new Set();
    for (const id of from) {
      const { space, cell: found } = this.cellOf(id);
      for (const input of this.inputs(space.name, found)) from.add(input);
      for (const control of this.controls(space.name, found)) order.add(control);
    }
    for (const id of from) order.delete(id);
    for (const id of order) {
      const { space, cell: found } = this.cellOf(id);
      for (const next of [...this.inputs(space.name, found), ...this.controls(space.name, found)])
        if (!from.has(next)) order.add(next);
    }
    return order;
  }

  /**
   * Cells whose formula reads a cell.
   * @param {string} space
   * @param {number} cell
   * @returns {ArrayLike<number> & Iterable<number>}
   */
  outputs(space, cell) {
    const csr = this.#consumersOf(space);
    return csr ? csr.cells.subarray(csr.offsets[cell], csr.offsets[cell + 1]) : [];
  }

  /**
   * How strongly each cell is lit while one is looked at: a byte per cell of the step.
   * @param {string} name
   * @param {number} cell
   * @param {boolean} withControl
   */
  light(name, cell, withControl) {
    const lit = new Uint8Array(this.total);
    const self = this.id(name, cell);
    lit[self] = LIT.self;
    const inputs = this.inputs(name, cell);
    const outputs = this.outputs(name, cell);
    this.#spread(inputs, lit, (space, at) => this.inputs(space, at));
    this.#spread(outputs, lit, (space, at) => this.outputs(space, at));
    if (withControl) for (const id of this.ordering(name, cell)) if (lit[id] === LIT.none) lit[id] = LIT.control;
    for (const id of outputs) lit[id] = LIT.output;
    for (const id of inputs) lit[id] = LIT.input;
    lit[self] = LIT.self;
    return lit;
  }

  /**
   * Prepares one more space's reverse links; call when idle until it says true.
   * @returns {boolean} everything is prepared
   */
  warm() {
    for (const space of this.order) {
      if (this.backward.has(space.name) || !this.schema.consumers.has(space.name)) continue;
      for (const consumer of this.schema.consumers.get(space.name) ?? []) {
        if (!this.forward.has(consumer) && this.step.space(consumer)) {
          this.#forwardOf(consumer);
          return false;
        }
      }
      this.#consumersOf(space.name);
      return false;
    }
    return true;
  }

  /**
   * @param {Iterable<number>} from
   * @param {Uint8Array} lit
   * @param {(space: string, cell: number) => Iterable<number>} next
   */
  #spread(from, lit, next) {
    /** @type {number[]} */
    const stack = [];
    for (const id of from) {
      if (lit[id] !== LIT.none) continue;
      lit[id] = LIT.walk;
      stack.push(id);
    }
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const { space, cell } = this.cellOf(id);
      for (const found of next(space.name, cell)) {
        if (lit[found] !== LIT.none) continue;
        lit[found] = LIT.walk;
        stack.push(found);
      }
    }
  }

  /** @param {string} name @param {number} cell @param {boolean} control @returns {ArrayLike<number> & Iterable<number>} */
  #read(name, cell, control) {
    const csr = control ? null : this.forward.get(name);
    if (csr) return csr.cells.subarray(csr.offsets[cell], csr.offsets[cell + 1]);
    const program = this.program(name);
    if (!program) return [];
    /** @type {Set<number>} */
    const ids = new Set();
    program.read(program.space.at(cell), program.space.value(cell), control, (space, found) => {
      ids.add(this.id(space.name, found));
    });
    return [...ids];
  }

  /** @param {string} name @returns {Csr | null} */
  #forwardOf(name) {
    const known = this.forward.get(name);
    if (known) return known;
    const program = this.program(name);
    if (!program) return null;
    const space = program.space;
    const offsets = new Int32Array(space.size + 1);
    let cells = new Int32Array(Math.max(16, space.size * 2));
    let used = 0;
    let start = 0;
    const sink = (/** @type {Space} */ target, /** @type {number} */ found) => {
      const id = this.id(target.name, found);
      for (let seen = start; seen < used; seen += 1) if (cells[seen] === id) return;
      if (used === cells.length) {
        const larger = new Int32Array(cells.length * 2);
        larger.set(cells);
        cells = larger;
      }
      cells[used] = id;
      used += 1;
    };
    walkCells(space, (at, cell) => {
      start = used;
      program.read(at, space.value(cell), false, sink);
      offsets[cell + 1] = used;
    });
    const csr = { offsets, cells: cells.subarray(0, used) };
    this.forward.set(name, csr);
    return csr;
  }

  /** @param {string} name @returns {Csr | null} */
  #consumersOf(name) {
    const known = this.backward.get(name);
    if (known) return known;
    const space = this.step.space(name);
    const base = this.base.get(name);
    if (!space || base === undefined) return null;
    const end = base + space.size;
    const offsets = new Int32Array(space.size + 1);
    /** @type {{csr: Csr, base: number}[]} */
    const sources = [];
    for (const consumer of this.schema.consumers.get(name) ?? []) {
      const csr = this.#forwardOf(consumer);
      if (!csr) continue;
      sources.push({ csr, base: /** @type {number} */ (this.base.get(consumer)) });
      for (const id of csr.cells) if (id >= base && id < end) offsets[id - base + 1] += 1;
    }
    for (let cell = 0; cell < space.size; cell += 1) offsets[cell + 1] += offsets[cell];
    const cells = new Int32Array(offsets[space.size]);
    const next = offsets.slice();
    for (const source of sources) {
      const count = source.csr.offsets.length - 1;
      for (let cell = 0; cell < count; cell += 1) {
        for (let ref = source.csr.offsets[cell]; ref < source.csr.offsets[cell + 1]; ref += 1) {
          const id = source.csr.cells[ref];
          if (id < base || id >= end) continue;
          cells[next[id - base]] = source.base + cell;
          next[id - base] += 1;
        }
      }
    }
    const csr = { offsets, cells };
    this.backward.set(name, csr);
    return csr;
  }
}

/**
 * Visits every cell in flat order with its coordinates, without searching for them.
 * @param {Space} space
 * @param {(at: number[], cell: number) => void} visit
 */
function walkCells(space, visit) {
  const at = new Array(space.dims.length).fill(0);
  const last = space.offsets.length;
  const descend = (/** @type {number} */ dim, /** @type {number} */ from, /** @type {number} */ to) => {
    for (let entry = from; entry < to; entry += 1) {
      at[dim] = entry - from;
      if (dim === last) visit(at, entry);
      else descend(dim + 1, space.offsets[dim][entry], space.offsets[dim][entry + 1]);
    }
  };
  descend(0, 0, space.length);
}
