// @ts-check
/**
 * Starts the page: reads what the server embedded, opens the scenario that the address names, and connects the
 * elements with the workbench.
 */
import { AddressBar } from './page/address/address-bar.js';
import { Api } from './page/api.js';
import { ChartsControl } from './page/features/charts.js';
import { parseAddress, formatAddress } from './core/address/address.js';
import { translator } from './core/i18n.js';
import { formatOf } from './core/scenario/format.js';
import { Schema } from './core/trace/schema.js';
import { sentenceAt } from './core/trace/summary.js';
import { cellKey, parseCellKey } from './core/trace/trace.js';
import * as drafts from './page/state/drafts.js';
import { Embedding } from './page/features/embed.js';
import { changed } from './page/state/editing.js';
import { connectEditors } from './page/features/editors.js';
import { Entrances } from './page/address/entrances.js';
import { connectFinding } from './page/features/finding.js';
import { GalleryControl } from './page/features/gallery.js';
import { connectGlossary } from './page/features/glossary.js';
import { connectKeys } from './page/features/keys.js';
import { connectUndo } from './page/features/undo.js';
import { Presenter } from './page/features/present.js';
import { ShareControl } from './page/features/share.js';
import { connectTheme } from './page/features/theme-switch.js';
import { connectPrint } from './page/features/print.js';
import { Lighting } from './ui/board/lighting.js';
import './ui/board/board.js';
import './ui/charts/charts.js';
import './ui/find/find.js';
import { dropTyped, handOn } from './ui/field.js';
import { keepFocus } from './ui/focus.js';
import { pinSentence } from './ui/board/formula-bar.js';
import './ui/gallery/gallery.js';
import './ui/glossary/glossary.js';
import './ui/page/help.js';
import { besideElement } from './ui/board/elements.js';
import './ui/board/inspector.js';
import './ui/kv/map.js';
import './ui/board/mapping-lines.js';
import './ui/page/notices.js';
import { drawState } from './ui/page/page-state.js';
import './ui/schedule/plan.js';
import './ui/gallery/question.js';
import './ui/board/rail.js';
import './ui/board/rows-table.js';
import { isSameView } from './ui/board/same-view.js';
import './ui/schedule/schedule.js';
import { showElement } from './ui/sight.js';
import './ui/share/share.js';
import './ui/board/strip.js';
import './ui/page/title.js';
import { isHeld, whenReleased } from './ui/press.js';
import { hear } from './ui/view.js';
import { Workbench } from './page/state/workbench.js';

/** @typedef {import('./ui/view.js').View} View */

const embedded = (/** @type {string} */ id) => JSON.parse(document.getElementById(id)?.textContent ?? 'null');
const boot = embedded('pw-boot');
const t = translator(embedded('pw-catalogue'));
const root = /** @type {HTMLElement} */ (document.querySelector('[data-workbench]'));
const elements = ['pw-notices', 'pw-title', 'pw-schedule', 'pw-rail', 'pw-board', 'pw-find', 'pw-inspector'].map(
  (name) => /** @type {any} */ (document.querySelector(name)),
);
const live = /** @type {HTMLElement} */ (document.querySelector('[data-live]'));
const lighting = new Lighting(root);

const bench = new Workbench({
  api: new Api(boot.root, boot.lang),
  schema: new Schema(embedded('pw-schema')),
  format: formatOf(embedded('pw-format')),
  t,
  lang: boot.lang,
  mode: parseAddress(location.search).view ?? 'board',
  draw,
  drawDraft,
  leave: (isOver) => (isOver ? dropTyped() : handOn()),
});
/** @type {Record<string, any>} coordinates of the cell looked at */
let coordinates = {};
let announced = '';
let pinSaid = '';
/** What was brought into sight last, by the keyboard and as pinned. */
const revealed = { focus: '', pin: '' };
let isFirst = true;
let shown = '';
/** What the elements show, as long as that does not depend on the window. @type {View | null} */
let drawn = null;

/** @param {View} view */
function draw(view) {
  if (isHeld()) return whenReleased(drawAgain);
  showMode(view);
  lighting.hold();
  if (!isSameView(drawn, view)) {
    keepFocus(() => elements.forEach((element) => (element.view = view)));
    elements.forEach((element) => element.localName !== 'pw-board' && lighting.drawn(element)); // the board says it itself
  }
  drawn = view.mode === 'board' ? view : null;
  gallery.draw(view);
  share.draw();
  drawEditors(view);
  drawState(root, view);
  light(view);
  writeAddress();
  announce(view);
  presenter.draw(view);
  embedding.draw(view);
  charts.draw(view); // as wide as there is room once the talk is gone
  bringIntoSight(view);
  reveal(view);
}

const drawAgain = () => bench.redraw();

/** What one types in says at once what was typed: the next key finds its field. @param {View} view */
function drawDraft(view) {
  if (view.mode !== 'board') return;
  const holders = /** @type {NodeListOf<any>} */ (document.querySelectorAll('pw-schedule, pw-title, pw-config'));
  keepFocus(() => holders.forEach((element) => (element.view = view)));
  drawn = null; // the others do not know it yet
}

/**
 * What of the page is shown is up to the style sheets; where nothing is edited, the schedule is a plain table.
 * @param {View} view
 */
function showMode(view) {
  const { dataset } = document.documentElement;
  if (view.mode === 'board') delete dataset.view;
  else dataset.view = view.mode;
  const plan = /** @type {any} */ (root.querySelector('pw-plan'));
  if (view.mode === 'board') plan?.remove();
  else if (plan) plan.view = view;
  else {
    const made = /** @type {any} */ (document.createElement('pw-plan'));
    root.querySelector('pw-rail')?.after(made);
    made.view = view;
  }
}

/** Who goes from step to step in the charts stays there. */
const isInCharts = () => Boolean(document.activeElement?.closest('pw-charts'));

/** The panel of the stage that one goes to is scrolled into sight, as little as it takes. @param {View} view */
function bringIntoSight(view) {
  const place = `${view.index}|${view.stage}`;
  if (place === shown) return;
  const first = shown === '';
  shown = place;
  if ((first && !location.search) || isInCharts()) return;
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
  showElement(root.querySelector('.panel[data-current]'), { block: 'nearest', behavior });
}

/** @param {View} view */
function light(view) {
  const now = bench.light();
  coordinates = now.coordinates;
  const pinned = bench.pin ? cellKey(bench.pin.space, bench.pin.at) : null;
  lighting.show(now.links, now.lit, coordinates, pinned, presenter.asked(view));
  const lines = /** @type {any} */ (document.querySelector('pw-lines'));
  if (lines) lines.lit = new Set(coordinates.batch_idx === undefined ? [] : [coordinates.batch_idx]);
}

/** One sentence for each step and stage, and one for what is pinned there. @param {View} view */
function announce(view) {
  const isKeptBack = presenter.asked(view) !== null; // its sentence is told when the answer is
  const place = `${view.index}|${view.stage}|${isKeptBack}|${view.faults.map(({ message }) => message).join()}`;
  const pin = pinSentence(view);
  const isPinned = pin !== pinSaid && view.mode !== 'present'; // a room is not told what it is asked
  pinSaid = pin;
  if (place === announced) {
    if (isPinned && pin) live.textContent = pin;
    return;
  }
  announced = place;
  const sentence =
    view.faults.length > 0 ? view.faults[0].message : isKeptBack ? t('present.kept_back') : sentenceAt(view, view.stage);
  live.textContent = t('announce', { step: view.index, stage: t(`stage.${view.stage}`), sentence });
}

/**
 * A cell that gets the keyboard, and one that is newly pinned, bring their counterparts into sight inside their own tables,
 * and come into sight themselves. Nothing else does: what is pinned all along stays where the reader has it, and hover moves
 * nothing.
 * @param {View} view
 */
function reveal(view) {
  const keyOf = (/** @type {{space: string, at: number[]} | null} */ cell) =>
    cell ? `${view.index}|${cellKey(cell.space, cell.at)}` : '';
  const [focus, pin] = [keyOf(bench.focus), keyOf(view.pin)];
  const cell = focus && focus !== revealed.focus ? bench.focus : pin && pin !== revealed.pin ? view.pin : null;
  Object.assign(revealed, { focus, pin });
  if (!cell) return;
  const first = isFirst;
  isFirst = false;
  for (const table of /** @type {NodeListOf<any>} */ (root.querySelectorAll('pw-rows, pw-strip, pw-kv'))) {
    const entry = coordinates[table.axis];
    if (typeof entry === 'number') table.reveal(entry);
  }
  if ((first && !location.search) || isInCharts() || document.activeElement?.closest('pw-schedule')) return; // who types stays at the schedule
  // The cell itself, in the stage at hand if that shows it; a click or a focused cell is in sight already. What a link
  // opens at is its stage: a cell elsewhere does not take the page away from that.
  const found = `[data-cell="${CSS.escape(cellKey(cell.space, cell.at))}"]`;
  const inStage = root.querySelector(`.panel[data-current] ${found}`);
  showElement(inStage ?? (first ? null : root.querySelector(`pw-board ${found}`)), { block: 'nearest', inline: 'nearest' });
}

function writeAddress() {
  const address = bench.address();
  if (bench.mode !== 'embed' && bench.touched && !bench.elsewhere) bar.write(address, bench.origin);
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('[data-lang-link]'))) {
    link.href = pathOf(bench.origin) + formatAddress({ ...parseAddress(address), lang: link.dataset.langLink });
  }
}

/** @param {EventTarget | null} target */
const isInInspector = (target) => target instanceof Element && Boolean(target.closest('pw-inspector'));

/** @param {EventTarget | null} target */
function cellOf(target) {
  const element = target instanceof Element ? target.closest('[data-cell]') : null;
  const parsed = element instanceof HTMLElement ? parseCellKey(element.dataset.cell ?? '') : null;
  return parsed ? { ...parsed, step: bench.index } : null;
}

function connectPointer() {
  // What comes to lie under a pointer that rests was not pointed at: a scenario opens at what is pinned.
  let rest = '';
  const placeOf = (/** @type {PointerEvent} */ { clientX, clientY }) => `${clientX},${clientY}`;
  for (const type of /** @type {const} */ (['pointermove', 'pointerdown']))
    addEventListener(type, (event) => (rest = placeOf(event)), { passive: true });
  root.addEventListener('pointerover', (event) => {
    if (event.pointerType === 'touch' || (!bench.hover && placeOf(event) === rest)) return;
    const cell = cellOf(event.target);
    if (!cell && !bench.hover) return;
    bench.lookAt('hover', cell);
    lookedElsewhere();
  });
  root.addEventListener('pointerleave', () => {
    bench.lookAt('hover', null);
    lookedElsewhere();
  });
  root.addEventListener('focusin', (event) => {
    if (isInInspector(event.target)) return; // there is said what was looked at
    const cell = event.target instanceof Element && event.target.matches(':focus-visible') ? cellOf(event.target) : null;
    if (!cell && !bench.focus) return;
    bench.lookAt('focus', cell);
    lookedElsewhere();
  });
  root.addEventListener('focusout', (event) => {
    const to = event.relatedTarget;
    if (!bench.focus || (isInInspector(to) && !bench.pinned()) || (to instanceof Element && to.closest('[data-cell]')))
      return;
    bench.lookAt('focus', null);
    lookedElsewhere();
  });
  root.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('input, button, a, summary')) return;
    const cell = cellOf(event.target);
    if (!cell) return;
    const same = bench.pin && cellKey(bench.pin.space, bench.pin.at) === cellKey(cell.space, cell.at);
    bench.setPin(same ? null : cell);
  });
}

let asked = false;
/** The look moved without anything else changing: only light and the inspector are drawn. */
function lookedElsewhere() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => whenReleased(drawLook));
}

function drawLook() {
  asked = false;
  const view = bench.view();
  light(view);
  const inspector = /** @type {any} */ (document.querySelector('pw-inspector'));
  keepFocus(() => (inspector.view = view));
  reveal(view);
}

/** What the inspector leads to is what it shows. */
function leaveFocus() {
  if (isInInspector(document.activeElement)) bench.lookAt('focus', null);
}

/** @type {import('./ui/messages.js').Handlers<import('./ui/messages.js').PageMessages>} */
const HANDLERS = {
  go: (place) => bench.go(place),
  walk: ({ by }) => bench.walk(by),
  step: ({ by }) => bench.step(by),
  element({ by }) {
    const cell = besideElement(bench.view(), by);
    if (cell) bench.setPin(cell);
  },
  pin(cell) {
    leaveFocus();
    bench.setPin(cell);
  },
  unpin() {
    leaveFocus();
    bench.setPin(null);
  },
  // A canvas has no elements for its cells: it says itself what is hovered or focused.
  look({ by, cell }) {
    bench.lookAt(by, cell);
    lookedElsewhere();
  },
  control: () => bench.toggleControl(),
  edit: (what) => bench.edit((draft) => changed(draft, what)),
  undo: () => bench.travel(-1),
  redo: () => bench.travel(1),
  revert: () => bench.revert(),
  async retry({ kind }) {
    document.getElementById('board')?.focus({ preventScroll: true }); // the button goes
    await bench.retry(kind);
  },
  dismiss: ({ kind }) => bench.dismiss(kind),
  restore({ kind, draft }) {
    const kept = drafts.draft(draft ?? bench.origin.name);
    bench.dismiss(kind);
    if (kept) entrances.openAs(() => kept.scenario, { kind: 'draft', name: kept.id });
  },
  link: ({ text }) => entrances.openLink(text),
  new: () => entrances.openAs(() => ({ version: 1, requests: [], steps: [] }), { kind: 'draft', name: drafts.newId() }),
  drawn: (_, { target }) => lighting.drawn(/** @type {HTMLElement} */ (target)),
};

/** Whoever leaves the page in the middle of an edit finds it again: `field.js` has handed on what was being typed. */
function leavePage() {
  if (bench.mode === 'embed') return;
  drafts.keepNow();
  if (bench.touched && !bench.elsewhere) bar.leave(bench.address(), bench.origin);
}

const charts = new ChartsControl(
  bench,
  /** @type {any} */ (document.querySelector('pw-charts')),
  /** @type {HTMLElement} */ (document.querySelector('[data-charts]')),
);
const pathOf = (/** @type {import('./page/state/workbench.js').Origin} */ { kind, name }) =>
  kind === 'short' ? `${boot.root}/s/${name}` : kind === 'nothing' ? location.pathname : `${boot.root}/`;
const bar = new AddressBar(globalThis, pathOf);
const entrances = new Entrances(bench, boot, bar);
const share = new ShareControl(bench, boot);
const gallery = new GalleryControl(bench, entrances, boot.about);
const drawEditors = connectEditors(bench, embedded('pw-format'), (load, origin) => entrances.openAs(load, origin));
const presenter = new Presenter(bench, t, root);
const embedding = new Embedding(bench, root, pathOf);
hear(document, HANDLERS);
addEventListener('pagehide', leavePage);
connectPointer();
connectTheme(t);
connectKeys(bench, t, /** @type {any} */ (document.querySelector('pw-help')), (event, singleKeys) =>
  presenter.key(event, singleKeys),
);
connectUndo();
connectFinding(bench);
connectGlossary(bench, t);
connectPrint(bench, t);
await entrances.openAddress();
writeAddress();
