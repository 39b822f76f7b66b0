// @ts-check
/** What the page says about itself: one notice of a kind, and what can be tried again from it. */

/** @typedef {import('../../ui/view.js').Notice} Notice */
/** @typedef {() => unknown} Again  what failed, once more */

export class Notices {
  /** @type {readonly Notice[]} */
  #all = [];
  /** By the kind of notice that says it failed. @type {Map<string, Again>} */
  #again = new Map();

  /** In the order in which they were said; another list whenever they are others. */
  get all() {
    return this.#all;
  }

  /** @param {string} kind @returns {Again | undefined} */
  again(kind) {
    return this.#again.get(kind);
  }

  /** Says something, in place of what was said of its kind. @param {Omit<Notice, 'again'>} notice @param {Again} [again] */
  say(notice, again) {
    this.sayAll([{ ...notice, again: again !== undefined }]);
    if (again) this.#again.set(notice.kind, again);
  }

  /** @param {readonly Notice[]} notices  each in place of what was said of its kind */
  sayAll(notices) {
    this.drop(...notices.map(({ kind }) => kind));
    this.#all = [...this.#all, ...notices];
  }

  /** @param {string[]} kinds */
  drop(...kinds) {
    for (const kind of kinds) this.#again.delete(kind);
    if (this.#all.some(({ kind }) => kinds.includes(kind)))
      this.#all = this.#all.filter(({ kind }) => !kinds.includes(kind));
  }

  /** Another scenario is open: what was said of the last one is over. @param {string} kept  the kind that is about none */
  begin(kept) {
    this.#again.clear();
    this.#all = this.#all.filter(({ kind }) => kind === kept);
  }
}
