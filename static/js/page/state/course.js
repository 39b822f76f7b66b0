// @ts-check
/**
 * Which trace is on the board, which step and stage of it, and what is on its way there.
 *
 * In: places to go to, and the traces of edited schedules. The board keeps what it shows until what comes next can
 * be shown. One request at a time and trace; its answer never overrides a newer wish: a place is counted from the
 * place wanted last, and only that one is fetched, whatever was passed on the way.
 */
import { Problem, Unreachable } from '../api.js';
import { ALL } from '../../core/trace/schema.js';

/** @typedef {import('./traces.js').Trace} Trace */
/** @typedef {{step: number, stage: string}} Place */
/**
 * @typedef {object} Listener
 * @property {() => void} changed  what is shown or on its way is another
 * @property {() => void} arrived  nothing is on its way any more
 * @property {(problem: Problem, isDraft: boolean) => void} refused  by the server, with its reasons: the next trace, or a
 *   step of the board
 * @property {(error: Unreachable, again: () => Promise<void>) => void} missed  no answer, or none that can be used
 */

export class Course {
  /** @type {Trace | null} the trace of an edited schedule, until it is on the board */
  #next = null;
  /** @type {Place | null} where the board is to go; null while it is there */
  #target = null;
  #index = 0;
  #stage;
  #board;
  /** The steps that one may go to. @type {import('../../core/trace/stop-points.js').Range} */
  #range = { first: 0, last: Infinity };
  /** The request in the air. @type {{trace: Trace, done: Promise<void>} | null} */
  #run = null;

  /** @param {Trace} board @param {readonly string[]} stages  in their order @param {Listener} listener */
  constructor(board, stages, listener) {
    this.#board = board;
    this.stages = stages;
    this.#stage = stages[0];
    this.listener = listener;
  }

  /** The trace that is shown. */
  get board() {
    return this.#board;
  }

  /** The trace of an edited schedule, until it is on the board. */
  get next() {
    return this.#next;
  }

  get index() {
    return this.#index;
  }

  get stage() {
    return this.#stage;
  }

  get isBusy() {
    return this.#run !== null;
  }

  /** The place wanted last: steps are counted from here. @returns {Place} */
  get place() {
    return this.#target ?? { step: this.#index, stage: this.#stage };
  }

  /** The trace that the reader is about to see. */
  get head() {
    return this.#next ?? this.#board;
  }

  /** Keeps to these steps. @param {import('../../core/trace/stop-points.js').Range} range */
  keepTo(range) {
    this.#range = range;
  }

  /** @param {number} step @param {Trace} trace */
  clip(step, trace = this.head) {
    const last = Math.max(0, Math.min(this.#range.last, trace.numSteps - 1));
    return Math.max(Math.min(this.#range.first, last), Math.min(step, last));
  }

  /**
   * One stage on or back, running over into the neighbouring step; null where there is none.
   * @param {number} by
   * @returns {Place | null}
   */
  beside(by) {
    const { stages } = this;
    const { step, stage } = this.place;
    if (stage === ALL) return { step: step + by, stage };
    const place = stages.indexOf(stage) + by;
    if (place >= 0 && place < stages.length) return { step, stage: stages[place] };
    if (this.clip(step + by) !== step + by) return null;
    return { step: step + by, stage: by > 0 ? stages[0] : stages[stages.length - 1] };
  }

  /** Puts another scenario on the board; what was on its way is forgotten. @param {Trace} trace @param {Place} place */
  show(trace, place) {
    this.#run = null;
    this.#next = null;
    this.#board = trace;
    this.#settle({ ...place, step: this.clip(place.step) });
  }

  /**
   * The schedule was edited: its trace takes the board's place as soon as it is there.
   * @param {Trace} trace
   * @returns {Promise<void>}
   */
  follow(trace) {
    this.#run = null;
    this.#next = trace === this.#board ? null : trace;
    return this.go({});
  }

  /** @param {Partial<Place>} wish @returns {Promise<void>} when the board is where it was last wanted, or cannot be */
  go(wish) {
    const place = { ...this.place, ...wish };
    place.step = this.clip(place.step);
    const trace = this.head;
    const isHere = trace === this.#board && place.step === this.clip(this.#index);
    if (isHere || trace.has(place.step)) {
      this.#run = null;
      this.#arrive(trace, place);
      return Promise.resolve();
    }
    this.#target = place;
    if (place.step === this.#index) this.#stage = place.stage;
    this.#run ??= this.#start(trace);
    this.listener.changed();
    return this.#run.done;
  }

  /** @param {Trace} trace */
  #start(trace) {
    const run = { trace, done: Promise.resolve() };
    run.done = this.#pursue(run);
    return run;
  }

  /** @param {{trace: Trace}} run */
  async #pursue(run) {
    const { trace } = run;
    await null; // until the run is noted down
    try {
      while (this.#run === run && this.#target && !trace.has(this.#target.step)) await trace.load(this.#target.step);
      if (this.#run !== run) return;
      this.#run = null;
      this.#arrive(trace, this.place);
    } catch (error) {
      if (this.#run !== run) return;
      this.#run = null;
      await this.#failed(trace, error);
    }
  }

  /** @param {Trace} trace @param {Place} place */
  #arrive(trace, place) {
    if (trace === this.#next) {
      this.#next = null;
      this.#board = trace;
    }
    this.#settle({ ...place, step: this.clip(place.step) });
    this.listener.arrived();
    this.listener.changed();
  }

  /** @param {Trace} trace @param {unknown} error */
  async #failed(trace, error) {
    const wanted = this.place;
    if (error instanceof Problem) {
      const isDraft = trace === this.#next || !trace.isLoaded;
      this.#next = null;
      this.listener.refused(error, isDraft);
      if (isDraft && this.#board.isLoaded) return this.go({}); // the step asked for, on the board that stays
      this.#settle({ step: this.#index, stage: this.#stage });
    } else if (error instanceof Unreachable) {
      // A step of the board that is at hand can be looked at meanwhile.
      this.#settle(
        this.#board.isLoaded && this.#board.has(wanted.step) ? wanted : { step: this.#index, stage: this.#stage },
      );
      this.listener.missed(error, () => this.go(wanted));
    } else {
      this.#settle({ step: this.#index, stage: this.#stage });
      throw error;
    }
    this.listener.changed();
  }

  /** @param {Place} place */
  #settle({ step, stage }) {
    this.#target = null;
    this.#index = this.clip(step, this.#board);
    this.#stage = stage;
  }
}
