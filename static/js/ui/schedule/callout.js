// @ts-check
/**
 * What is wrong on the schedule, said at the cell it is about, over the page: nothing moves while one types.
 */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { placeOf } from '../../core/scenario/edits.js';
import { repairs } from './faults.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../view.js').Fault} Fault */

const MOST = 4;
const GAP = 8;
const NARROW = 300;
const WIDE = 520;

/**
 * The places that faults are about, each once, from the top left: row -1 is a step as a whole, column -1 a request.
 * @param {View} view @param {readonly Fault[]} faults @returns {import('../../core/scenario/selection.js').Place[]}
 */
export function placesOf(view, faults) {
  const rows = new Map(view.draft.requests.map(({ req_id }, row) => [req_id, row]));
  const places = faults
    .map((fault) => placeOf(view.draft, fault))
    .map(({ step, reqId }) => ({ row: (reqId === null ? undefined : rows.get(reqId)) ?? -1, column: step ?? -1 }));
  const unique = new Map(places.map((place) => [`${place.row}|${place.column}`, place]));
  return [...unique.values()].sort((a, b) => a.column - b.column || a.row - b.row);
}

/**
 * The faults to be said now: those of the cell in focus or of its step, else those of the first place.
 * @param {View} view @param {import('../../core/scenario/selection.js').Place | null} active
 * @returns {readonly Fault[]}
 */
function saidNow(view, active) {
  const at = (/** @type {Fault} */ fault) => placesOf(view, [fault])[0];
  const own = active
    ? view.faults.filter((fault) => at(fault).row === active.row && at(fault).column === active.column)
    : [];
  if (own.length > 0) return own;
  const ofStep = active ? view.faults.filter((fault) => at(fault).row < 0 && at(fault).column === active.column) : [];
  if (ofStep.length > 0) return ofStep;
  const first = at(view.faults.find((fault) => at(fault).row >= 0) ?? view.faults[0]);
  return view.faults.filter((fault) => at(fault).row === first.row && at(fault).column === first.column);
}

/** @param {View} view @param {import('../../core/scenario/selection.js').Place | null} active the cell in focus */
export function callout(view, active) {
  const { t, faults } = view;
  if (faults.length === 0) return nothing;
  const said = saidNow(view, active).slice(0, MOST);
  const more = faults.length - said.length;
  return html`<div class="callout"
    id="schedule-faults">${said.map((fault) => faultLine(view, fault))}${
      more > 0
        ? html`<p
    class="fault"><button type="button" class="btn"
    data-next-fault>${t('faults.next', { n: more })} <kbd>F8</kbd></button></p>`
        : nothing
    }</div>`;
}

/** @param {View} view @param {Fault} fault */
function faultLine(view, fault) {
  const { step } = placeOf(view.draft, fault);
  const name = step === null ? '' : view.t('step.name', { step });
  const where = name && !fault.message.toLowerCase().includes(name.toLowerCase()) ? html`<b>${name}</b> ` : nothing;
  const repair = repairs(view, fault);
  return html`<p class="fault" data-code=${fault.code}>${where}${fault.message}${
    repair ? html` <button type="button" class="btn main" data-fix .fault=${fault}>${repair}</button>` : nothing
  }</p>`;
}

/**
 * The element of the grid that what is said is about: a cell, a request's prompt, a step's name, else the grid.
 * @param {HTMLElement} grid
 * @param {View} view
 * @param {import('../../core/scenario/selection.js').Place | null} active
 */
export function anchorOf(grid, view, active) {
  const { step, reqId } = placeOf(view.draft, saidNow(view, active)[0]);
  const at = reqId === null ? '' : `[data-req="${CSS.escape(reqId)}"]`;
  const found =
    at && step !== null
      ? grid.querySelector(`input${at}[data-step="${step}"]`)
      : at
        ? grid.querySelector(`tr${at} [data-prompt]`)
        : null;
  return /** @type {HTMLElement} */ (found ?? grid.querySelector(`[data-go-step="${step}"]`) ?? grid);
}

/**
 * Beside the grid at the height of the cell where there is room; else under the cell that is edited; else under the grid, so
 * that it hides no other cell.
 * @param {HTMLElement} box
 * @param {HTMLElement} anchor
 * @param {HTMLElement} panel
 */
export function placeCallout(box, anchor, panel) {
  const plan = /** @type {HTMLElement} */ (box.parentElement).getBoundingClientRect();
  const [at, room] = [anchor.getBoundingClientRect(), panel.getBoundingClientRect()];
  const grid = /** @type {HTMLElement} */ (panel.querySelector('.plan .scroll')).getBoundingClientRect();
  const free = room.right - grid.right - GAP;
  if (free >= NARROW) {
    Object.assign(box.style, {
      width: 'max-content',
      maxWidth: `${Math.min(free, WIDE)}px`,
      left: `${grid.right - plan.left + GAP}px`,
    });
    box.style.top = `${clamp(at.top, grid.top, grid.bottom - at.height) - plan.top}px`;
    box.dataset.side = 'right';
    return;
  }
  const width = Math.min(WIDE, room.width);
  Object.assign(box.style, { width: 'max-content', maxWidth: `${width}px` });
  box.style.left = `${clamp(at.left, room.left, room.right - Math.min(width, box.offsetWidth)) - plan.left}px`;
  const isHere = document.activeElement === anchor;
  box.style.top = `${(isHere ? clamp(at.bottom, grid.top, grid.bottom) : grid.bottom) - plan.top + 3}px`;
  box.dataset.side = 'below';
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.max(low, Math.min(value, high));
}
