// @ts-check
/**
 * Presenting: `?view=present`. Only the stage at hand, as large as the window allows, with its neighbours as summaries; keys
 * of a presenter remote; a spotlight on the pinned cell; a screen that goes black.
 *
 * What a remote sends: Page Down and Page Up go to the next and the previous stop point (`core/trace/stop-points.js`), `.`
 * or `b`
 * blanks the screen. Escape unpins, then leaves. It opens at any place that an address names, and the address keeps
 * `view=present` until it is left.
 *
 * In: views of the workbench, keys. Out: places to go to, and what `ui/talk/talk.js` draws around the stage.
 */
import { parseAddress } from '../../core/address/address.js';
import { besideStop } from '../../core/trace/stop-points.js';
import { ALL } from '../../core/trace/schema.js';
import { cellKey } from '../../core/trace/trace.js';
import { fitStage, scaleFor } from '../../ui/talk/fit.js';
import '../../ui/talk/talk.js';
import { hear } from '../../ui/view.js';

/** @typedef {import('../../ui/view.js').View} View */
/** @typedef {import('../state/workbench.js').Workbench} Workbench */

/** Keys of one character, which can be switched off, and what they do. */
const SINGLE = /** @type {Record<string, import('../../ui/messages.js').TalkSwitch>} */ ({
  '.': 'blank',
  b: 'blank',
  r: 'ask',
  s: 'spotlight',
  f: 'full',
  l: 'language',
  t: 'theme',
});

export class Presenter {
  /** The element around the stage, while presenting. @type {import('../../ui/talk/talk.js').Talk | null} */
  #talk = null;
  #isAsking = false;
  /** The pinned cell whose value was revealed. */
  #revealed = '';
  /** What was revealed of what stages find out. @type {Set<string>} */
  #told = new Set();
  #hasSpotlight = true;
  #fitted = '';

  /** @param {Workbench} bench @param {import('../../core/i18n.js').Translate} t @param {HTMLElement} root */
  constructor(bench, t, root) {
    this.bench = bench;
    this.t = t;
    this.root = root;
    this.button = /** @type {HTMLElement | null} */ (document.querySelector('[data-present]'));
    this.button?.addEventListener('click', () => this.#enter());
    /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').TalkMessages>} */
    const handlers = { talk: (wish) => this.#do(wish) };
    hear(document, handlers);
    document.addEventListener('fullscreenchange', () => this.#is && bench.redraw());
    addEventListener('resize', () => this.#is && bench.redraw());
    root.querySelector('.left')?.addEventListener('scroll', () => this.#sayMore(), { passive: true });
    addEventListener('popstate', () => bench.show(parseAddress(location.search).view === 'present' ? 'present' : 'board'));
  }

  get #is() {
    return this.bench.mode === 'present';
  }

  #enter() {
    if (this.#is) return; // pressed twice before it was drawn
    history.pushState(null, '', location.href); // "back" leaves the talk, not the page; what the entry below opened is its own
    this.bench.show('present');
  }

  /**
   * What a key does while presenting, null if it is none of ours.
   * @param {KeyboardEvent} event
   * @param {boolean} singleKeys
   * @returns {(() => unknown) | null}
   */
  key(event, singleKeys) {
    if (!this.#is || event.shiftKey) return null;
    if (event.key === 'PageDown' || event.key === 'PageUp')
      return () => this.#do({ name: 'stop', by: event.key === 'PageDown' ? 1 : -1 });
    if (event.key === 'Escape') return () => this.#do({ name: this.bench.pinned() ? 'unpin' : 'leave' });
    const single = singleKeys ? SINGLE[event.key.toLowerCase()] : undefined;
    return single ? () => !event.repeat && this.#do({ name: single }) : null; // held down, it would switch to and fro
  }

  /** @param {View} view */
  draw(view) {
    document.documentElement.toggleAttribute('data-spotlight', this.#is && this.#hasSpotlight && view.pin !== null);
    document.documentElement.toggleAttribute('data-concealed', this.#is && this.#isConcealed(view));
    const asked = this.asked(view);
    if (asked) document.documentElement.dataset.asked = asked;
    else delete document.documentElement.dataset.asked;
    if (!this.#is) {
      if (this.#talk) this.#left();
      return;
    }
    if (view.stage === ALL) void this.bench.go({ stage: view.schema.firstStage }); // one stage at a time
    const entered = this.#talk === null;
    this.#talk ??= /** @type {import('../../ui/talk/talk.js').Talk} */ (
      this.root.appendChild(document.createElement('pw-talk'))
    );
    const isFull = document.fullscreenElement !== null;
    this.#talk.data = {
      view,
      concealed: this.#isConcealed(view),
      isAsking: this.#isAsking,
      isFull,
      canFill: document.fullscreenEnabled,
      languages: languages(),
      singleKeys: true,
    };
    this.#fit();
    if (entered || !document.activeElement?.checkVisibility() || document.activeElement === document.body)
      document.getElementById('board')?.focus({ preventScroll: true });
  }

  /** After everything is drawn: what is in the stage decides how large it can be. */
  #fit() {
    const scale = scaleFor({ width: innerWidth, height: innerHeight });
    document.documentElement.style.setProperty('--scale', String(scale));
    const frame = /** @type {HTMLElement} */ (this.root.querySelector('.left'));
    fitStage(frame, scale);
    const place = `${this.bench.index}|${this.bench.stage}`;
    if (place !== this.#fitted) frame.scrollTop = 0;
    this.#fitted = place;
    this.#sayMore();
  }

  /** Whether the stage goes on below what is in sight. */
  #sayMore() {
    const frame = /** @type {HTMLElement} */ (this.root.querySelector('.left'));
    this.root.toggleAttribute('data-more', this.#is && frame.scrollTop + frame.clientHeight < frame.scrollHeight - 2);
  }

  /** The space that the stage at hand finds out, while the room is asked for it: nothing may say it. @param {View} view */
  asked(view) {
    return this.#is && this.#isAsking && !this.#told.has(answerAt(view)) ? asks(view) : null;
  }

  /** @param {View} view */
  #isConcealed(view) {
    return this.#isAsking && view.pin !== null && this.#revealed !== keyOf(view.pin);
  }

  /** @param {import('../../ui/messages.js').TalkWish} wish */
  #do(wish) {
    const { bench } = this;
    switch (wish.name) {
      case 'stop': {
        const view = bench.view();
        const place = besideStop(view.schema.stageNames, view.summary, view.range, bench.course.place, wish.by);
        return place && bench.go(place);
      }
      case 'unpin':
        return bench.setPin(null);
      case 'leave':
        return bench.show('board');
      case 'blank':
        return blank(this.t);
      case 'spotlight':
        this.#hasSpotlight = !this.#hasSpotlight;
        return bench.redraw();
      case 'ask':
        return this.#ask();
      case 'full':
        return document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.();
      case 'language':
        return press('[data-lang-link]');
      case 'theme':
        return press('[data-theme-switch]');
      case 'help':
        return press('[data-help]');
      default: {
        /** @type {never} */
        const unknown = wish;
        throw new Error(`no such wish: ${JSON.stringify(unknown)}`);
      }
    }
  }

  /**
   * Starts the asking: what a stage finds out and the value of the pinned cell are kept back. Then tells the answer, which
   * the next stage and the next cell pinned keep back again. Once all is told, asks again where a cell is pinned, else ends.
   */
  #ask() {
    const view = this.bench.view();
    const key = view.pin ? keyOf(view.pin) : '';
    if (this.#isAsking && (this.asked(view) || this.#isConcealed(view))) {
      this.#revealed = key;
      this.#told.add(answerAt(view));
    } else {
      this.#isAsking = !this.#isAsking || view.pin !== null;
      this.#revealed = '';
      this.#told.delete(answerAt(view));
    }
    this.bench.redraw();
  }

  #left() {
    this.#talk?.remove();
    this.#talk = null;
    this.#isAsking = false;
    this.#told.clear();
    this.#fitted = '';
    /** @type {HTMLElement} */ (this.root.querySelector('.left')).style.removeProperty('--zoom');
    if (document.fullscreenElement) void document.exitFullscreen();
    this.button?.focus({ preventScroll: true });
  }
}

/** @param {string} selector of a button or link of the page */
function press(selector) {
  /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
}

/** What is asked for at the stage at hand. @param {View} view */
function asks({ schema, stage }) {
  return schema.stage(stage)?.asks ?? null;
}

/** @param {View} view */
function answerAt(view) {
  return `${view.index}|${asks(view)}`;
}

/** @param {import('../../core/trace/formula.js').CellRef} pin */
function keyOf(pin) {
  return `${pin.step}|${cellKey(pin.space, pin.at)}`;
}

/** Nothing but black until any key, click or touch. @param {import('../../core/i18n.js').Translate} t */
function blank(t) {
  const dialog = document.createElement('dialog');
  dialog.className = 'blank';
  dialog.setAttribute('aria-label', t('present.blanked'));
  const words = document.createElement('p');
  words.className = 'vh';
  words.textContent = t('present.blanked');
  dialog.append(words);
  const end = (/** @type {Event} */ event) => {
    event.preventDefault();
    event.stopPropagation();
    if (!(event instanceof KeyboardEvent && event.repeat)) dialog.close(); // the key that made it black is still down
  };
  dialog.addEventListener('keydown', end);
  dialog.addEventListener('click', end);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** The languages that the page offers besides its own, with the addresses of this very place. */
function languages() {
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.masthead [data-lang-link]'));
  return [...links].map((link) => ({
    code: String(link.dataset.langLink),
    name: String(link.textContent).trim(),
    href: link.href,
  }));
}
