// @ts-check
/** What was typed in a field, to be taken back a run of keys at a time: keys of one kind, each where the last one ended. */

/** @typedef {{text: string, start: number, end: number}} State  of a field: its text, and what of it is selected */

/** Kinds of input of which one goes on where the last ended, as `InputEvent` names them. */
const RUNS = new Set(['insertText', 'deleteContentBackward', 'deleteContentForward']);

export class TypedRuns {
  /** @type {State[]} */
  #past = [];
  /** @type {State[]} */
  #future = [];
  /** The run that the next key may belong to. @type {{how: string, at: number} | null} */
  #run = null;

  /** @param {State} before @param {State} after @param {string} how  the kind of input */
  add(before, after, how) {
    const goesOn = this.#run?.how === how && before.start === before.end && before.end === this.#run.at;
    if (!goesOn) this.#past.push(before);
    this.#future = [];
    this.#run = RUNS.has(how) ? { how, at: after.end } : null;
  }

  /**
   * @param {1 | -1} by @param {State} now
   * @returns {State | null} what the field was before its last run, or what was taken back of it; null if there is none
   */
  travel(by, now) {
    const [from, to] = by < 0 ? [this.#past, this.#future] : [this.#future, this.#past];
    const state = from.pop() ?? null;
    if (state) to.push(now);
    this.#run = null;
    return state;
  }
}
