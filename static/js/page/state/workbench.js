// @ts-check
/**
 * The state of the page and everything that changes it: which scenario and draft, which cell. Where on the board one
 * is, and what is on its way there, is the `Course`.
 *
 * In: events of the elements, the address. Out: a `View` for every element, whenever something changed.
 */
import { Problem, ServerFailure, Unreachable } from '../api.js';
import { Undo } from '../../core/scenario/history.js';
import { isSame } from '../../core/scenario/same.js';
import { parseCellKey } from '../../core/trace/trace.js';
import { Course } from './course.js';
import * as drafts from './drafts.js';
import { Notices } from './notices.js';
import { prepare, wrongEntries } from './opening.js';
import { PresentLink } from '../address/present-link.js';
import { Trace } from './traces.js';
import { addressOf, lightOf, viewOf } from './views.js';

/** @typedef {import('../../ui/view.js').View} View */
/** @typedef {import('../../ui/view.js').Fault} Fault */
/** @typedef {import('../../core/trace/formula.js').CellRef} CellRef */
/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */
/**
 * Where the open scenario comes from: the gallery, this browser, a link that holds it (`name` is that), or nowhere,
 * because a link could not be read.
 * @typedef {{kind: 'example' | 'draft' | 'link' | 'short' | 'nothing', name: string}} Origin
 */
/** @typedef {import('./opening.js').Notice} Notice */
/** @typedef {import('./opening.js').Opening} Opening */

/** Milliseconds after which what nobody sees is drawn all the same: who steers it waits for an answer. */
const UNSEEN = 200;

export class Workbench {
  #mode;
  /** @type {Origin} */
  #origin = { kind: 'example', name: '' };
  /** @type {Scenario} */
  #draft = { version: 1, requests: [], steps: [] };
  #undo = new Undo();
  /** @type {{space: string, at: number[]} | null} */
  #pin = null;
  /** Where the pointer and the keyboard are. @type {{hover: CellRef | null, focus: CellRef | null}} */
  #looks = { hover: null, focus: null };
  #group = 0;
  #isControl = false;
  /** @type {Fault[]} */
  #faults = [];
  #notices = new Notices();
  /** What is being opened; what is open stays until it is there. @type {Opening | null} */
  #opening = null;
  /** Whether a scenario was ever opened. */
  #isOpened = false;
  /** The address names something that is not on screen yet, or could not be had. */
  #isElsewhere = false;
  #isKept = true;
  /** The address is left alone until something was done: a bare one stays bare. */
  #isTouched = false;
  #isDrawing = false;

  /**
   * @param {object} given
   * @param {import('../api.js').Api} given.api
   * @param {import('../../core/trace/schema.js').Schema} given.schema
   * @param {import('../../core/scenario/format.js').Format} given.format
   * @param {import('../../core/i18n.js').Translate} given.t
   * @param {string} given.lang
   * @param {View['mode']} given.mode  how the page is shown; one that is embedded stays so
   * @param {(view: View) => void} given.draw
   * @param {(view: View) => void} given.drawDraft  the draft is another: whoever types goes on in what it is now
   * @param {(isOver: boolean) => void} given.leave  another scenario is about to be opened, or takes the place of this one
   */
  constructor({ api, schema, format, t, lang, mode, draw, drawDraft, leave }) {
    this.api = api;
    this.schema = schema;
    this.format = format;
    this.t = t;
    this.lang = lang;
    this.draw = draw;
    this.drawDraft = drawDraft;
    this.leave = leave;
    this.#mode = mode;
    this.links = new PresentLink(format, () => this.redraw());
    this.course = new Course(new Trace(api, schema, this.#draft), schema.stageNames, {
      changed: () => this.redraw(),
      arrived: () => this.#arrived(),
      refused: (problem, isDraft) => this.#refused(problem, isDraft),
      missed: (error, again) => this.#missed(error, again),
    });
  }

  get mode() {
    return this.#mode;
  }

  get origin() {
    return this.#origin;
  }

  get draft() {
    return this.#draft;
  }

  /** Another one means that another scenario was opened. */
  get undo() {
    return this.#undo;
  }

  get pin() {
    return this.#pin;
  }

  get hover() {
    return this.#looks.hover;
  }

  get focus() {
    return this.#looks.focus;
  }

  get group() {
    return this.#group;
  }

  get control() {
    return this.#isControl;
  }

  /** @returns {readonly Fault[]} */
  get faults() {
    return this.#faults;
  }

  /** @returns {readonly Notice[]} */
  get notices() {
    return this.#notices.all;
  }

  get opened() {
    return this.#isOpened;
  }

  get elsewhere() {
    return this.#isElsewhere;
  }

  get isKept() {
    return this.#isKept;
  }

  get touched() {
    return this.#isTouched;
  }

  get trace() {
    return this.course.board;
  }

  get index() {
    return this.course.index;
  }

  get stage() {
    return this.course.stage;
  }

  get busy() {
    return this.course.isBusy || this.#opening !== null;
  }

  /** Whether the board is not of the schedule that the grid shows. */
  get isStale() {
    return this.#faults.length > 0 || this.course.next !== null;
  }

  /** Opens a scenario; of several, the one asked for last. @param {Opening} opening */
  async open(opening) {
    this.leave(false);
    this.#opening = opening;
    this.#isElsewhere = true;
    if (this.#isOpened) this.redraw(); // the page begins with a board, not with an empty one
    try {
      const ready = await prepare(this, opening);
      if (opening === this.#opening) this.#take(opening, ready);
    } catch (error) {
      if (opening !== this.#opening) return;
      this.#isElsewhere = error instanceof Unreachable;
      if (error instanceof Unreachable) this.#missed(error, () => this.open(opening), true);
      else if (error instanceof Problem) this.notice('example', error.reasons[0].message);
      else throw error;
    } finally {
      if (opening === this.#opening) this.#opening = null;
      this.redraw();
    }
  }

  /** @param {Opening} opening @param {import('./opening.js').Ready} ready */
  #take(opening, { scenario, found, trace, step, faults, failure }) {
    this.leave(true);
    this.#draft = scenario;
    this.#origin = found.origin;
    this.#undo = new Undo();
    this.#faults = faultsOf(scenario, faults);
    this.#pin = found.place?.pin ? parseCellKey(found.place.pin) : null;
    this.#looks = { hover: null, focus: null };
    this.#notices.begin('storage');
    this.#notices.sayAll(found.notices ?? []);
    this.course.show(trace, { step, stage: found.place?.stage ?? this.schema.firstStage });
    this.#isOpened = true;
    this.#isElsewhere = false;
    opening.arrived?.();
    if (failure) this.#missed(failure, () => this.#run(this.#draft));
    else if (trace.isLoaded) this.#ahead();
  }

  /** Nothing is on its way any more. */
  #arrived() {
    if (this.course.board.scenario === this.#draft) this.#faults = [];
    if (this.#looks.focus?.step !== this.index) this.#looks = { hover: null, focus: null };
    if (!this.#isElsewhere) this.#notices.drop('offline');
    this.#ahead();
  }

  /** @param {Problem} problem @param {boolean} isDraft */
  #refused(problem, isDraft) {
    this.#notices.drop('offline');
    if (isDraft) this.#faults = faultsOf(this.#draft, problem.reasons);
    else this.notice('refused', problem.reasons[0].message);
  }

  /** @param {Unreachable} error @param {() => unknown} again @param {boolean} [isOpening] */
  #missed(error, again, isOpening = false) {
    const what = error instanceof ServerFailure ? 'notice.server_failed' : 'notice.offline';
    const which = !this.trace.isLoaded ? '.nothing' : isOpening ? '.open' : '';
    this.notice('offline', this.t(what + which), { again });
  }

  /** Once more what failed. @param {string} kind  of the notice that says so */
  async retry(kind) {
    const again = this.#notices.again(kind);
    this.dismiss(kind);
    await again?.();
  }

  /** Fetches the neighbours of the step on screen, so that going there is instant. */
  async #ahead() {
    const { trace, index } = this;
    for (const near of [index + 1, index - 1]) {
      if (trace !== this.trace || index !== this.index) return; // we went on
      if (near < 0 || near >= trace.numComputed || trace.has(near)) continue;
      try {
        await trace.load(near);
      } catch (error) {
        if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
        return; // not asked for: said when somebody goes there
      }
    }
    globalThis.requestIdleCallback?.(() => this.#warm(trace, index));
  }

  /**
   * Prepares the links of the step on screen and then of its neighbours, while nothing else is to be done.
   * @param {Trace} trace
   * @param {number} index
   */
  #warm(trace, index) {
    if (trace !== this.trace || index !== this.index) return;
    const cold = [index, index + 1, index - 1].find((step) => trace.steps.has(step) && !trace.links(step).warm());
    if (cold !== undefined) requestIdleCallback(() => this.#warm(trace, index));
  }

  /** @param {{step?: number, stage?: string}} place */
  async go(place) {
    this.#isTouched = true;
    if (!this.#opening) this.#isElsewhere = false; // what could not be opened was given up
    await this.course.go(place);
  }

  /** Steps from the one wanted last, however many keys came before it was there. @param {number} by */
  step(by) {
    return this.go({ step: this.course.place.step + by });
  }

  /** One stage on or back, running over into the neighbouring step. @param {number} by */
  walk(by) {
    const place = this.course.beside(by);
    return place ? this.go(place) : Promise.resolve();
  }

  /** @param {CellRef | null} cell */
  async setPin(cell) {
    this.#isTouched = true;
    if (!this.#opening) this.#isElsewhere = false;
    this.#pin = cell ? { space: cell.space, at: cell.at } : null;
    if (!cell) this.#looks.focus = null;
    if (cell && this.schema.def(cell.space)?.dims[0] === 'group') this.#group = cell.at[0];
    this.#looks.hover = null;
    if (cell && cell.step !== this.index) await this.go({ step: cell.step });
    else this.redraw();
  }

  /** What is pinned is not there: it is no longer named. */
  dropPin() {
    this.#pin = null;
    this.redraw();
  }

  /** @param {'hover' | 'focus'} by the pointer or the keyboard @param {CellRef | null} cell */
  lookAt(by, cell) {
    this.#looks[by] = cell;
  }

  /** Ordering and control are lit as well, or no longer. */
  toggleControl() {
    this.#isControl = !this.#isControl;
    this.redraw();
  }

  /** Something was done: from now on the address is that of what is on screen. */
  touch() {
    this.#isTouched = true;
    this.redraw();
  }

  /** Shows the same place in another way. @param {View['mode']} mode */
  show(mode) {
    if (this.#mode === 'embed' || mode === this.#mode) return;
    this.#mode = mode;
    this.#isTouched = true;
    this.redraw();
  }

  /** While it is presented, or inside another page, nothing is edited: neither is there a grid to see it in, nor an undo. */
  get isReadOnly() {
    return this.#mode !== 'board';
  }

  /** @param {(draft: Scenario) => Scenario} change */
  async edit(change) {
    if (this.isReadOnly) return;
    const next = change(this.#draft);
    if (isSame(next, this.#draft)) return this.drawDraft(this.view()); // who typed sees what it came to
    this.#undo.push(this.#draft);
    await this.#replace(next);
  }

  /** @param {1 | -1} direction */
  async travel(direction) {
    if (this.isReadOnly) return;
    const next = direction < 0 ? this.#undo.undo(this.#draft) : this.#undo.redo(this.#draft);
    if (next) await this.#replace(next);
  }

  /** Back to the scenario that the board shows. */
  async revert() {
    if (this.isReadOnly) return;
    this.#undo.push(this.#draft);
    await this.#replace(this.trace.scenario);
  }

  /** @param {Scenario} next */
  async #replace(next) {
    this.#isTouched = true;
    this.#opening = null; // the reader works on what is open
    this.#isElsewhere = false;
    this.#draft = next;
    if (this.#origin.kind !== 'draft') this.#origin = { kind: 'draft', name: drafts.newId() };
    this.#notices.drop('draft', 'elsewhere', 'ignored', 'link', 'step');
    drafts.keepSoon(this.#origin.name, next, (kept) => this.#kept(kept));
    const wasThere = this.pinned() !== null;
    const isRun = this.#run(next);
    this.drawDraft(this.view());
    await isRun;
    // What was pinned is gone with the edit, so the address does not go on naming it.
    if (wasThere && next === this.#draft && !this.isStale && this.pinned() === null) await this.setPin(null);
  }

  /** The schedule goes to the board, unless what is typed in it is no number. @param {Scenario} next */
  #run(next) {
    const wrong = faultsOf(next, wrongEntries(next, this.t));
    const isShown = this.trace.isLoaded && next === this.trace.scenario;
    if (wrong.length > 0 || isShown) this.#faults = wrong;
    else this.#faults = this.#faults.filter(({ code }) => code !== 'entry'); // what else is wrong is up to the server
    return this.course.follow(wrong.length > 0 || isShown ? this.trace : new Trace(this.api, this.schema, next));
  }

  /** Keeps the draft in this browser, and says if that cannot be. */
  keep() {
    if (this.#mode !== 'embed') this.#kept(drafts.keep(this.#origin.name, this.#draft));
  }

  /** The draft was deleted, or is there again: it stays on screen, and is kept again with the next change. @param {boolean} isKept */
  setKept(isKept) {
    if (this.#isKept === isKept) return;
    this.#isKept = isKept;
    this.redraw();
  }

  /** @param {drafts.Kept} kept */
  #kept(kept) {
    const isKept = kept === 'kept';
    if (isKept && this.#isKept) return;
    this.#isKept = isKept;
    this.notKept(kept);
    this.redraw();
  }

  /** What is typed is not kept in this browser, and why; or it is. @param {drafts.Kept} kept */
  notKept(kept) {
    this.#notices.drop('storage');
    if (kept !== 'kept') this.notice('storage', this.t(kept === 'full' ? 'notice.storage_full' : 'notice.storage'));
  }

  /**
   * Says something, in place of what was said of the same kind.
   * @param {string} kind @param {string} message
   * @param {{again?: () => unknown, draft?: string}} [ways]  on: what failed once more, a draft that can be opened
   */
  notice(kind, message, { again, draft } = {}) {
    this.#notices.say({ kind, message, draft }, again);
    this.redraw();
  }

  /** @param {readonly Notice[]} notices  each in place of what was said of its kind */
  say(notices) {
    this.#notices.sayAll(notices);
    this.redraw();
  }

  /** @param {string} kind */
  dismiss(kind) {
    this.#notices.drop(kind);
    this.redraw();
  }

  /** Draws in the next frame, once, however often it is asked for. */
  redraw() {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    const draw = () => {
      if (!this.#isDrawing) return;
      this.#isDrawing = false;
      this.draw(this.view());
    };
    requestAnimationFrame(draw);
    if (this.#mode === 'embed') setTimeout(draw, UNSEEN); // a frame that is out of sight is given no animation frames
  }

  /** @param {CellRef | null} cell */
  #existing(cell) {
    const space = cell && cell.step === this.index ? this.trace.step(this.index).space(cell.space) : null;
    return cell && space && space.find(cell.at) >= 0 ? cell : null;
  }

  /** @returns {CellRef | null} */
  look() {
    const pinned = this.#mode === 'present' && this.pinned(); // what the room looks at stays lit wherever the pointer is
    if (pinned) return pinned;
    return this.#existing(this.#looks.hover) ?? this.#existing(this.#looks.focus) ?? this.pinned();
  }

  /** The pinned cell, if this step has it. @param {CellRef | null} pin @returns {CellRef | null} */
  pinned(pin = this.#pin ? { ...this.#pin, step: this.index } : null) {
    return this.#existing(pin);
  }

  /** @returns {View} */
  view() {
    return viewOf(this);
  }

  light() {
    return lightOf(this);
  }

  /** The self-contained link of the open scenario; '' where it has none, null while it is being made. */
  get link() {
    return this.#origin.kind === 'link' ? this.#origin.name : this.links.of(this.#draft);
  }

  /** The query string that describes what is on screen. */
  address() {
    return addressOf(this);
  }
}

/** @param {Scenario} scenario that they were found in @param {Fault[]} faults */
function faultsOf(scenario, faults) {
  return faults.map((fault) => ({ ...fault, of: scenario }));
}
