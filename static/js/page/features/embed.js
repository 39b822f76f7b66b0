// @ts-check
/**
 * Embedded: `?view=embed`, inside a frame of another page. One stage at a time or the whole board, as the frame has room;
 * read
 * only; `&steps=a-b` keeps it to those steps, both ends inclusive. It never touches the history of the page around it:
 * there is
 * no `pushState` and no `replaceState`, and nothing is kept in the browser. "Open full view" opens the same place in a tab
 * of
 * its own, the only way out of the frame.
 *
 * The page around it may steer it by `postMessage`. Messages are plain objects.
 *
 * | from | message | when |
 * |---|---|---|
 * | frame | `{type: "pagewalk:ready", version: 1, steps: [first, last], title}` | once it can be steered, and after every
 * `hello` |
 * | frame | `{type: "pagewalk:step", step, stage, pin}` | after `ready`, and whenever one of the three is another |
 * | frame | `{type: "pagewalk:error", message}` | a message of ours that cannot be obeyed; nothing has changed. Whether a
 * step that is not at hand has a cell shows when it is there: then it is gone to, and only the pin stays |
 * | host | `{type: "pagewalk:goto", step?, stage?, pin?}` | what is left out stays; a step outside `steps` becomes the
 * nearest; `pin: null` unpins |
 * | host | `{type: "pagewalk:hello"}` | asks for `ready` again, for a host that began to listen too late |
 *
 * `step` is a number from 0, `stage` and `pin` are as in the address (`slot-mapping`, `slot_mappings.0.3`). Only the window
 * around the frame is listened to (`event.source === parent`); other messages of it are not ours and pass unanswered. Ours
 * are
 * posted to any origin, because a frame is not told whose page it is in: they say no more than the address that the page
 * around gave the frame, and hold nothing of a person.
 */
import { parseAddress, stepRange } from '../../core/address/address.js';
import { fullAddress, readWish } from '../../core/address/embedding.js';
import { cellKey } from '../../core/trace/trace.js';
import { addressOf } from '../state/views.js';
import '../../ui/talk/embed-line.js';

/** @typedef {import('../../ui/view.js').View} View */
/** @typedef {import('../state/workbench.js').Workbench} Workbench */
/** @typedef {import('../../core/address/embedding.js').Wish} Wish */

const VERSION = 1;

export class Embedding {
  /** @type {import('../../ui/talk/embed-line.js').EmbedLine | null} */
  #line = null;
  #said = '';
  #isReady = false;

  /**
   * @param {Workbench} bench
   * @param {HTMLElement} root
   * @param {(origin: import('../state/workbench.js').Origin) => string} pathOf  where a scenario is
   * @param {Window} [host]  the window around
   */
  constructor(bench, root, pathOf, host = parent) {
    this.pathOf = pathOf;
    this.bench = bench;
    this.root = root;
    this.host = host;
    if (bench.mode !== 'embed') return;
    const range = stepRange(parseAddress(location.search).steps);
    if (range) bench.course.keepTo(range);
    if (host !== window) addEventListener('message', (event) => event.source === host && this.#heard(event.data));
  }

  /** @param {View} view */
  draw(view) {
    if (view.mode !== 'embed') return;
    if (!this.#line) {
      this.#line = /** @type {import('../../ui/talk/embed-line.js').EmbedLine} */ (document.createElement('pw-embed-line'));
      this.root.prepend(this.#line);
    }
    this.#line.data = { view, href: this.pathOf(this.bench.origin) + fullAddress(addressOf(this.bench)) };
    if (!view.hasBoard) return;
    if (!this.#isReady) this.#ready(view);
    this.#place(view);
  }

  /** @param {View} view */
  #ready({ range, draft }) {
    this.#isReady = true;
    this.#said = '';
    this.#post({ type: 'pagewalk:ready', version: VERSION, steps: [range.first, range.last], title: draft.title ?? '' });
  }

  /** @param {View} view */
  #place({ index, stage, pin }) {
    const place = { step: index, stage, pin: pin ? cellKey(pin.space, pin.at) : null };
    const said = JSON.stringify(place);
    if (said === this.#said) return;
    this.#said = said;
    this.#post({ type: 'pagewalk:step', ...place });
  }

  /** @param {unknown} data */
  #heard(data) {
    const type = isObject(data) ? data.type : null;
    if (typeof type !== 'string' || !type.startsWith('pagewalk:')) return;
    if (type === 'pagewalk:hello') {
      this.#isReady = false;
      this.bench.redraw();
      return;
    }
    const wish =
      type === 'pagewalk:goto'
        ? readWish(/** @type {Record<string, unknown>} */ (data), this.bench.schema)
        : `unknown type ${type.slice(0, 40)}`;
    if (typeof wish === 'string') this.#post({ type: 'pagewalk:error', message: wish });
    else void this.#go(wish);
  }

  /** @param {Wish} wish */
  async #go({ step, stage, pin }) {
    const { bench } = this;
    const refuse = (/** @type {number} */ index) =>
      this.#post({ type: 'pagewalk:error', message: `no cell ${pin ? cellKey(pin.space, pin.at) : ''} in step ${index}` });
    const target = bench.course.clip(step ?? bench.course.place.step);
    if (pin && bench.trace.has(target) && (bench.trace.step(target).space(pin.space)?.find(pin.at) ?? -1) < 0) {
      refuse(target);
      return;
    }
    await bench.go({ ...(step === undefined ? {} : { step }), ...(stage === undefined ? {} : { stage }) });
    if (pin === undefined) return;
    const cell = pin && { ...pin, step: bench.index };
    if (cell && !bench.pinned(cell)) refuse(bench.index);
    else await bench.setPin(cell);
  }

  /** @param {Record<string, unknown>} message */
  #post(message) {
    if (this.host !== window) this.host.postMessage(message, '*');
  }
}

/** @param {unknown} data @returns {data is Record<string, unknown>} */
function isObject(data) {
  return typeof data === 'object' && data !== null;
}
