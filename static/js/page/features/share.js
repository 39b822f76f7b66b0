// @ts-check
/**
 * What can be handed on of what is open, and the workbench: addresses, a short link made by the server, code for other
 * pages.
 *
 * In: the workbench. Out: the model that the dialog draws. Everything but a short link is made in the browser, and the
 * server is told nothing.
 */
import { Problem, ServerFailure, Unreachable } from '../api.js';
import { formatAddress } from '../../core/address/address.js';
import { handoutAddress } from '../../core/address/handout.js';
import { linkTo, LONGEST_IN_CHATS } from '../../core/address/link-to.js';
import { LinkError } from '../../core/address/link.js';
import { embedCode, markdown } from '../../core/address/share.js';
import { cellKey } from '../../core/trace/trace.js';
import { hear } from '../../ui/view.js';

/** @typedef {import('../../core/scenario/edits.js').Scenario} Scenario */
/** @typedef {import('../../ui/share/share.js').Shared} Shared */

/** As the server has it: a longer address becomes a code that no phone reads off a wall. */
const LONGEST_IN_QR = 1_200;
const SIZES = /** @type {[number, number][]} */ ([
  [640, 360],
  [800, 450],
  [1120, 630],
]);

export class ShareControl {
  #box = /** @type {import('../../ui/share/share.js').Share} */ (document.querySelector('pw-share'));
  #button = /** @type {HTMLButtonElement} */ (document.querySelector('[data-share]'));
  #withPlace = true;
  #size = 1;
  /** Short links that were made here. @type {WeakMap<Scenario, string>} */
  #short = new WeakMap();
  #isMaking = false;
  #failure = '';

  /** @param {import('../state/workbench.js').Workbench} bench @param {{root: string, base: string, links: boolean}} boot */
  constructor(bench, boot) {
    this.bench = bench;
    this.boot = boot;
    this.#button.addEventListener('click', () => this.open());
    /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').ShareMessages>} */
    const handlers = {
      place: ({ on }) => {
        this.#withPlace = on;
        return this.#update();
      },
      size: ({ size }) => {
        this.#size = size;
        return this.#update();
      },
      shorten: () => this.#shorten(),
    };
    hear(this.#box, handlers);
  }

  /** There is nothing to hand on where a link could not be read. */
  draw() {
    this.#button.disabled = this.bench.origin.kind === 'nothing';
  }

  async open() {
    this.#failure = '';
    this.#box.open(await this.#shared());
  }

  async #update() {
    const shared = await this.#shared();
    if (this.#box.isOpen) this.#box.update(shared);
  }

  async #shorten() {
    const { bench } = this;
    const { draft } = bench;
    if (this.#isMaking) return;
    this.#isMaking = true;
    this.#failure = '';
    await this.#update();
    try {
      this.#short.set(draft, (await bench.api.shorten(draft)).id);
    } catch (error) {
      if (error instanceof Problem) this.#failure = error.reasons[0].message;
      else if (error instanceof Unreachable)
        this.#failure = bench.t(error instanceof ServerFailure ? 'share.short.failed' : 'share.short.offline');
      else throw error;
    } finally {
      this.#isMaking = false;
    }
    await this.#update();
    this.#box.focusShort();
  }

  /** @returns {Promise<Shared>} */
  async #shared() {
    const { bench, boot } = this;
    const { origin, draft, t } = bench;
    const pin = bench.pinned();
    const here = { step: bench.index, stage: bench.stage, pin: pin ? cellKey(pin.space, pin.at) : null };
    const place = this.#withPlace ? here : {};
    const lang = new URLSearchParams(location.search).get('lang') === bench.lang ? bench.lang : null;
    const base = `${boot.base}/`;
    const id = this.#short.get(draft) ?? (origin.kind === 'short' ? origin.name : null);
    /** How the scenario itself is named in an address. @type {{example: string} | {s: string} | null} */
    let named = origin.kind === 'example' ? { example: origin.name } : null;
    if (!named) {
      try {
        named = { s: (await linkTo(bench.format, draft)).s };
      } catch (error) {
        if (!(error instanceof LinkError)) throw error;
      }
    }
    const address = (/** @type {Partial<import('../../core/address/address.js').Address>} */ more) =>
      named ? base + formatAddress({ ...named, ...place, lang, ...more }) : null;
    const short = id ? `${base}s/${id}${formatAddress({ ...place, lang })}` : null;
    const link = address({});
    const best = short ?? link;
    const title = draft.title || t('scenario.untitled');
    const [width, height] = SIZES[this.#size];
    const embedded = id ? `${base}s/${id}${formatAddress({ ...place, lang, view: 'embed' })}` : address({ view: 'embed' });
    const query = id ? new URLSearchParams({ short: id }) : new URLSearchParams(named ?? {});
    const inQr = id
      ? `?short=${id}&${formatAddress({ ...place, lang }).slice(1)}`
      : named
        ? formatAddress({ ...named, ...place, lang })
        : '';
    return {
      t,
      title,
      link,
      isExample: origin.kind === 'example',
      length: link?.length ?? 0,
      isLong: (link?.length ?? 0) > LONGEST_IN_CHATS,
      withPlace: this.#withPlace,
      place: t(here.pin ? 'share.place.pinned' : 'share.place.what', {
        step: here.step,
        stage: t(`stage.${here.stage}`),
        pin: here.pin ?? '',
      }),
      short,
      canShorten: boot.links,
      isMaking: this.#isMaking,
      failure: this.#failure,
      code: best && best.length <= LONGEST_IN_QR ? `${boot.root}/api/qr.svg${inQr}` : null,
      embed: embedded ? embedCode(embedded, title, { width, height }) : null,
      preview: embedded ? boot.root + embedded.slice(boot.base.length) : null,
      sizes: SIZES.map(([one, other]) => `${one} × ${other}`),
      size: this.#size,
      width,
      height,
      markdown: best ? markdown(title, best) : null,
      picture:
        best && query.size > 0 ? markdown(title, best, `${base}og.png?${query}&step=${here.step}&lang=${bench.lang}`) : null,
      handout:
        query.size > 0
          ? handoutAddress(boot.root, { ...Object.fromEntries(query), lang: bench.lang, step: here.step })
          : null,
    };
  }
}
