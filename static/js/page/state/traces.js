// @ts-check
/**
 * The computed steps of one scenario, fetched a few at a time around the one that is looked at.
 */
import { Links } from '../../core/trace/links.js';
import { Step } from '../../core/trace/trace.js';
import { Problem, ServerFailure } from '../api.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */

/** Steps kept in memory; those farthest from the one on screen go first. */
const MOST = 24;

export class Trace {
  #loaded = false;
  /** Steps in the air: who asks for the same one waits for the same answer. @type {Map<number, Promise<void>>} */
  #coming = new Map();

  /**
   * @param {import('../api.js').Api} api
   * @param {import('../../core/trace/schema.js').Schema} schema
   * @param {Scenario} scenario
   */
  constructor(api, schema, scenario) {
    this.api = api;
    this.schema = schema;
    this.scenario = scenario;
    /** @type {Record<string, any>} */
    this.constants = {};
    /** @type {Record<string, any>[]} */
    this.summary = [];
    /** @type {{step: number, code: string, message: string, needed?: number, free?: number} | null} */
    this.stopped = null;
    /** @type {Map<number, Step>} */
    this.steps = new Map();
    /** @type {Map<string, Links>} */
    this.linked = new Map();
  }

  get numSteps() {
    return this.scenario.steps.length;
  }

  /** Whether the server has run it. */
  get isLoaded() {
    return this.#loaded;
  }

  /** Steps that were computed: all of them, or those before the trace stopped. */
  get numComputed() {
    return this.stopped ? Math.min(this.stopped.step, this.numSteps) : this.numSteps;
  }

  /**
   * Makes a step ready, with the one before it. Throws what the API throws, `ServerFailure` where the answer is not
   * about that step.
   * @param {number} index
   */
  async load(index) {
    if (this.has(index)) return;
    let coming = this.#coming.get(index);
    if (!coming) {
      coming = this.#fetch(index).finally(() => this.#coming.delete(index));
      this.#coming.set(index, coming);
    }
    await coming;
  }

  /** @param {number} index */
  async #fetch(index) {
    const first = Math.max(0, index - 1);
    try {
      this.#take(await this.api.trace(this.scenario, this.numSteps === 0 ? { last: -1 } : { first, last: index + 1 }));
    } catch (error) {
      const tooLarge = error instanceof Problem && error.faults.some(({ code }) => code === 'response_too_large');
      if (!tooLarge || this.numSteps === 0) throw error;
      // Three large steps do not fit into one answer: one at a time.
      this.#take(await this.api.trace(this.scenario, { first: index, last: index }));
      if (first < index) this.#take(await this.api.trace(this.scenario, { first, last: first }));
    }
    if (!this.has(index)) throw new ServerFailure();
    this.#forget(index);
  }

  /** @param {number} index */
  has(index) {
    if (!this.#loaded || index >= this.numComputed) return this.#loaded;
    return this.steps.has(index) && (index === 0 || this.steps.has(index - 1));
  }

  /** A step, or an empty one in its place where there is none to show. @param {number} index @returns {Step} */
  step(index) {
    return (
      this.steps.get(index) ??
      new Step({
        index,
        num_reqs: 0,
        num_tokens: 0,
        num_reqs_padded: 0,
        num_tokens_padded: 0,
        cudagraph_mode: 'NONE',
        req_ids: [],
        req_id_to_index: {},
        free_indices: [],
        events: [],
        spaces: {},
        checks: [],
        sentences: {},
      })
    );
  }

  /** @param {number} index @returns {Links} */
  links(index) {
    const key = `${index}|${this.steps.has(index)}|${this.steps.has(index - 1)}`;
    let links = this.linked.get(key);
    if (!links) {
      links = new Links(this.schema, this.constants, this.step(index), this.steps.get(index - 1) ?? null);
      this.linked.set(key, links);
    }
    return links;
  }

  /** @param {any} body */
  #take(body) {
    /** @type {Step[]} */
    let steps;
    try {
      steps = body.steps
        .filter((/** @type {any} */ step) => !this.steps.has(step.index))
        .map((/** @type {any} */ step) => new Step(step));
    } catch (error) {
      throw new ServerFailure('a step that cannot be read', { cause: error });
    }
    this.#loaded = true;
    this.constants = body.constants ?? {};
    this.summary = body.summary;
    this.stopped = body.stopped ?? null;
    for (const step of steps) this.steps.set(step.index, step);
  }

  /** @param {number} index */
  #forget(index) {
    const far = [...this.steps.keys()].sort((a, b) => Math.abs(b - index) - Math.abs(a - index));
    for (const step of far.slice(0, Math.max(0, far.length - MOST))) {
      this.steps.delete(step);
      for (const key of this.linked.keys()) if (key.startsWith(`${step}|`)) this.linked.delete(key);
    }
  }
}
