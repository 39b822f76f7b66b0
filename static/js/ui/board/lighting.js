// @ts-check
/**
 * Paints what the looked-at cell lights: strength by strength on cells, faintly on everything that shares a
 * coordinate with it (its token's column, its request's rows).
 */
import { LIT } from '../../core/trace/links.js';
import { cellKey, isGrouped, parseCellKey } from '../../core/trace/trace.js';

/** @typedef {import('../../core/trace/links.js').Links} Links */

/** @type {Record<number, string>} */
const NAMES = {
  [LIT.self]: 'self',
  [LIT.input]: 'input',
  [LIT.output]: 'output',
  [LIT.walk]: 'walk',
  [LIT.control]: 'control',
};

export class Lighting {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Links | null} */
    this.links = null;
    /** @type {Uint8Array | null} */
    this.lit = null;
    /** @type {Record<string, any>} coordinates of the cell looked at */
    this.coordinates = {};
    /** @type {string | null} */
    this.pinned = null;
    /** @type {string | null} the space that is asked for: its cells are kept back */
    this.asked = null;
    /** @type {Set<string>} keys of cells that violate a check */
    this.bad = new Set();
    /** @type {Map<string, {id: number, space: string, axis: string, index: number}>} */
    this.known = new Map();
    /** What was drawn while the whole page is: painted at the end, once. @type {Set<HTMLElement> | null} */
    this.held = null;
  }

  /** The page is being drawn, until `show`. */
  hold() {
    this.held ??= new Set();
  }

  /** @param {HTMLElement} element that has just been drawn */
  drawn(element) {
    if (this.held) this.held.add(element);
    else this.paint(element);
  }

  /**
   * @param {Links} links
   * @param {Uint8Array | null} lit
   * @param {Record<string, any>} coordinates
   * @param {string | null} pinned key of the pinned cell
   * @param {string | null} asked the space that is asked for
   */
  show(links, lit, coordinates, pinned, asked) {
    const isSame = links === this.links && lit === this.lit && pinned === this.pinned && asked === this.asked;
    const held = this.held;
    this.held = null;
    if (links !== this.links) {
      this.known.clear();
      this.bad = new Set(
        links.step.json.checks.flatMap((check) =>
          check.holds ? [] : check.cells.map(({ space, at }) => cellKey(space, at)),
        ),
      );
    }
    this.links = links;
    this.lit = lit;
    this.coordinates = coordinates;
    this.pinned = pinned;
    this.asked = asked;
    const drawn =
      held && isSame
        ? [...held].filter((one) => ![...held].some((other) => other !== one && other.contains(one)))
        : [this.root];
    for (const scope of drawn) this.paint(scope);
    for (const map of /** @type {NodeListOf<any>} */ (this.root.querySelectorAll('pw-pool')))
      map.lights(links, lit, coordinates);
  }

  /** Paints again what a table has just drawn. @param {ParentNode} scope */
  paint(scope) {
    for (const element of scope.querySelectorAll('[data-cell]')) this.#cell(/** @type {HTMLElement} */ (element));
    for (const element of scope.querySelectorAll('[data-axis]')) {
      const { axis, index } = /** @type {HTMLElement} */ (element).dataset;
      const shared = this.lit !== null && axis !== undefined && this.#shares(axis, Number(index));
      if (shared !== element.hasAttribute('data-shared')) element.toggleAttribute('data-shared', shared);
    }
  }

  /** @param {HTMLElement} element */
  #cell(element) {
    const key = /** @type {string} */ (element.dataset.cell);
    const place = this.#place(key);
    let name = this.lit && place.id >= 0 ? NAMES[this.lit[place.id]] : undefined;
    if (!name && this.lit && place.axis && this.#shares(place.axis, place.index)) name = 'shared';
    if (element.dataset.lit !== name) {
      if (name) element.dataset.lit = name;
      else delete element.dataset.lit;
    }
    const pinned = key === this.pinned;
    if (pinned !== element.hasAttribute('data-pinned')) element.toggleAttribute('data-pinned', pinned);
    const asked = this.asked !== null && place.space === this.asked;
    if (asked !== element.hasAttribute('data-asked')) element.toggleAttribute('data-asked', asked);
    const bad = this.bad.size > 0 && this.bad.has(key);
    if (bad !== element.hasAttribute('data-bad')) element.toggleAttribute('data-bad', bad);
  }

  /** @param {string} axis @param {number} index */
  #shares(axis, index) {
    return this.coordinates[axis] === index;
  }

  /** @param {string} key */
  #place(key) {
    const known = this.known.get(key);
    if (known) return known;
    const parsed = parseCellKey(key);
    const space = parsed && this.links?.step.space(parsed.space);
    const found = { id: -1, space: parsed?.space ?? '', axis: '', index: -1 };
    if (parsed && space && this.links) {
      const flat = space.find(parsed.at);
      if (flat >= 0 && this.links.base.has(space.name)) found.id = this.links.id(space.name, flat);
      const place = isGrouped(space.dims) ? 1 : 0;
      found.axis = this.links.schema.axisOf(space.dims[place]);
      found.index = parsed.at[place];
    }
    this.known.set(key, found);
    return found;
  }
}
