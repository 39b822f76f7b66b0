// @ts-check
/**
 * The state of the page and everything that changes it: which scenario, which step and stage, which cell.
 *
 * In: events of the elements, the address. Out: a `View` for every element, whenever something changed.
 */
import { Unreachable, Problem } from './api.js';
import { parseAddress, formatAddress } from './core/address.js';
import * as edits from './core/edits.js';
import { STAGES } from './core/schema.js';
import { cellKey, parseCellKey } from './core/trace.js';
import * as drafts from './drafts.js';
import { Trace } from './traces.js';
import { lightOf, viewOf } from './views.js';

/** @typedef {import('./ui/view.js').View} View */
/** @typedef {import('./ui/view.js').Fault} Fault */
/** @typedef {import('./core/formula.js').CellRef} CellRef */
/** @typedef {import('./core/edits.js').Scenario} Scenario */
/** @typedef {{kind: 'example' | 'draft', name: string}} Origin */

export class Workbench {
  /**
   * @param {object} given
   * @param {import('./api.js').Api} given.api
   * @param {import('./core/schema.js').Schema} given.schema
   * @param {import('./core/i18n.js').Translate} given.t
   * @param {string} given.lang
   * @param {(view: View) => void} given.draw
   */
  constructor({ api, schema, t, lang, draw }) {
    this.api = api;
    this.schema = schema;
    this.t = t;
    this.lang = lang;
    this.draw = draw;
    /** @type {Origin} */
    this.origin = { kind: 'example', name: '' };
    /** @type {Scenario} */
    this.draft = { version: 1, requests: [], steps: [] };
    this.trace = new Trace(api, schema, this.draft);
    this.undo = new edits.Undo();
    this.index = 0;
    this.stage = STAGES[0];
    /** @type {{space: string, at: number[]} | null} */
    this.pin = null;
    /** @type {CellRef | null} */
    this.hover = null;
    /** @type {CellRef | null} */
    this.focus = null;
    this.group = 0;
    this.control = false;
    /** @type {Fault[]} */
    this.faults = [];
    /** @type {{kind: string, message: string}[]} */
    this.notices = [];
    this.busy = false;
    /** @type {{name: string, title: string}[]} */
    this.examples = [];
    this.asked = 0;
    this.drawing = false;
    /** The address is left alone until something was done: a bare one stays bare. */
    this.touched = false;
  }

  /**
   * Opens a scenario. @param {any} scenario @param {Origin} origin
   * @param {{step?: number | null, stage?: string | null, pin?: string | null}} place
   */
  async open(scenario, origin, place = {}) {
    this.draft = edits.toDraft(scenario);
    this.origin = origin;
    this.undo = new edits.Undo();
    this.faults = [];
    this.trace = new Trace(this.api, this.schema, this.draft);
    this.index = this.#clip(place.step ?? scenario.start_step ?? 0);
    this.stage = place.stage ?? STAGES[0];
    this.pin = place.pin ? parseCellKey(place.pin) : null;
    this.hover = null;
    this.focus = null;
    await this.compute();
  }

  /** Runs the draft; while it cannot be run the last valid board stays. */
  async compute() {
    const asked = (this.asked += 1);
    const draft = this.draft;
    const trace = new Trace(this.api, this.schema, draft);
    this.busy = true;
    try {
      await trace.load(Math.min(this.index, Math.max(0, draft.steps.length - 1)));
      if (asked !== this.asked) return;
      this.trace = trace;
      this.faults = [];
      this.#dropNotice('offline');
      this.index = this.#clip(this.index);
    } catch (error) {
      if (asked !== this.asked) return;
      this.#failed(error);
    }
    this.busy = false;
    this.redraw();
    this.#ahead();
  }

  /** @param {unknown} error */
  #failed(error) {
    if (error instanceof Problem) {
      this.faults = error.faults.length > 0 ? error.faults : [{ where: '', code: String(error.status), message: error.message }];
      this.#dropNotice('offline');
    } else if (error instanceof Unreachable) this.notice('offline', this.t('notice.offline'));
    else throw error;
  }

  /** Fetches the neighbours of the step on screen, so that going there is instant. */
  async #ahead() {
    const { trace, index } = this;
    for (const near of [index + 1, index - 1]) {
      if (near < 0 || near >= trace.numComputed || trace.has(near)) continue;
      try {
        await trace.load(near);
      } catch (error) {
        if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
        return; // not asked for: said when somebody goes there
      }
    }
    requestIdleCallback?.(() => this.#warm(trace, index));
  }

  /** @param {Trace} trace @param {number} index */
  #warm(trace, index) {
    if (trace !== this.trace || index !== this.index || !trace.steps.has(index)) return;
    if (!trace.links(index).warm()) requestIdleCallback?.(() => this.#warm(trace, index));
  }

  /** @param {{step?: number, stage?: string}} place */
  async go({ step = this.index, stage = this.stage }) {
    const index = this.#clip(step);
    this.touched = true;
    if (index !== this.index && !this.trace.has(index)) {
      const asked = (this.asked += 1);
      this.busy = true;
      this.redraw();
      try {
        await this.trace.load(index);
      } catch (error) {
        if (asked !== this.asked) return;
        this.busy = false;
        this.#failed(error);
        this.redraw();
        return;
      }
      if (asked !== this.asked) return;
      this.busy = false;
    }
    if (index !== this.index) this.hover = this.focus = null;
    this.index = index;
    this.stage = stage;
    this.redraw();
    this.#ahead();
  }

  /** One stage on or back, running over into the neighbouring step. @param {number} by */
  walk(by) {
    const place = STAGES.indexOf(this.stage) + by;
    if (this.stage === 'all') return this.go({ step: this.index + by });
    if (place >= 0 && place < STAGES.length) return this.go({ stage: STAGES[place] });
    const step = this.index + by;
    if (step < 0 || step >= this.trace.numSteps) return Promise.resolve();
    return this.go({ step, stage: by > 0 ? STAGES[0] : STAGES[STAGES.length - 1] });
  }

  /** @param {CellRef | null} cell */
  async setPin(cell) {
    this.touched = true;
    this.pin = cell ? { space: cell.space, at: cell.at } : null;
    if (!cell) this.focus = null;
    if (cell && this.schema.def(cell.space)?.dims[0] === 'group') this.group = cell.at[0];
    this.hover = null;
    if (cell && cell.step !== this.index) await this.go({ step: cell.step });
    else this.redraw();
  }

  /** @param {(draft: Scenario) => Scenario} change */
  async edit(change) {
    const next = change(this.draft);
    if (JSON.stringify(next) === JSON.stringify(this.draft)) return;
    this.undo.push(this.draft);
    await this.#replace(next);
  }

  /** @param {1 | -1} direction */
  async travel(direction) {
    const next = direction < 0 ? this.undo.undo(this.draft) : this.undo.redo(this.draft);
    if (next) await this.#replace(next);
  }

  /** Back to the scenario that the board shows. */
  async revert() {
    this.undo.push(this.draft);
    await this.#replace(this.trace.scenario);
  }

  /** @param {Scenario} next */
  async #replace(next) {
    this.touched = true;
    this.draft = next;
    if (this.origin.kind !== 'draft') this.origin = { kind: 'draft', name: drafts.newId() };
    if (!drafts.keep(this.origin.name, next)) this.notice('storage', this.t('notice.storage'));
    this.#dropNotice('draft');
    this.redraw();
    await this.compute();
  }

  /** @param {string} kind @param {string} message */
  notice(kind, message) {
    this.#dropNotice(kind);
    this.notices = [...this.notices, { kind, message }];
  }

  /** @param {string} kind */
  #dropNotice(kind) {
    this.notices = this.notices.filter((notice) => notice.kind !== kind);
  }

  /** @param {string} kind */
  dismiss(kind) {
    this.#dropNotice(kind);
    this.redraw();
  }

  /** @param {number} step */
  #clip(step) {
    return Math.max(0, Math.min(step, this.draft.steps.length - 1, Math.max(0, this.trace.numSteps - 1)));
  }

  /** Draws in the next frame, once, however often it is asked for. */
  redraw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.draw(this.view());
    });
  }

  /** @param {CellRef | null} cell */
  #existing(cell) {
    const space = cell && cell.step === this.index ? this.trace.step(this.index).space(cell.space) : null;
    return cell && space && space.find(cell.at) >= 0 ? cell : null;
  }

  /** @returns {CellRef | null} */
  look() {
    return this.#existing(this.hover) ?? this.#existing(this.focus) ?? this.pinned();
  }

  /** The pinned cell, if this step has it. @param {CellRef | null} pin @returns {CellRef | null} */
  pinned(pin = this.pin ? { ...this.pin, step: this.index } : null) {
    return this.#existing(pin);
  }

  /** @returns {View} */
  view() {
    return viewOf(this);
  }

  light() {
    return lightOf(this);
  }

  /** The query string that describes what is on screen. */
  address() {
    const { rest } = parseAddress(location.search);
    return formatAddress({
      example: this.origin.kind === 'example' ? this.origin.name : null,
      draft: this.origin.kind === 'draft' ? this.origin.name : null,
      step: this.index,
      stage: this.stage,
      pin: this.pin ? cellKey(this.pin.space, this.pin.at) : null,
      lang: parseAddress(location.search).lang,
      rest: rest.filter(([name]) => name !== 's'),
    });
  }
}
