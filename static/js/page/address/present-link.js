// @ts-check
/**
 * The self-contained link of whatever scenario is open, made beside everything else: asked for, it is there or it is
 * not there yet. A scenario is never changed in place, so each has one link.
 */
import { LinkError, encodeLink } from '../../core/address/link.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */

export class PresentLink {
  /** Links that are made; '' where there can be none. @type {WeakMap<Scenario, string>} */
  #made = new WeakMap();
  /** What is to be done next: of several scenarios, only the last. @type {Scenario | null} */
  #next = null;
  #isBusy = false;

  /**
   * @param {import('../../core/scenario/format.js').Format} format
   * @param {() => void} made  called when one that was not there is
   */
  constructor(format, made) {
    this.format = format;
    this.made = made;
  }

  /** @param {Scenario} scenario @returns {string | null} '' where it has none; null while it is not made yet */
  of(scenario) {
    const link = this.#made.get(scenario);
    if (link !== undefined) return link;
    this.#next = scenario;
    this.#work();
    return null;
  }

  async #work() {
    if (this.#isBusy) return;
    this.#isBusy = true;
    await new Promise((ready) => setTimeout(ready)); // who asks is drawing
    while (this.#next) {
      const scenario = this.#next;
      this.#next = null;
      this.#made.set(scenario, await encoded(this.format, scenario));
      this.made();
    }
    this.#isBusy = false;
  }
}

/** @param {import('../../core/scenario/format.js').Format} format @param {Scenario} scenario */
async function encoded(format, scenario) {
  try {
    return await encodeLink(format, scenario);
  } catch (error) {
    if (error instanceof LinkError) return ''; // too large, or a browser that cannot
    throw error;
  }
}
