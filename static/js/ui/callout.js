// @ts-check
/**
 * What is wrong on the schedule, said at the cell it is about, over the page: nothing moves while one types.
 */
import { html, nothing } from '../../vendor/lit-html/lit-html.js';
import { placeOf } from '../core/edits.js';
import { repairs } from './faults.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./view.js').Fault} Fault */

const MOST = 4;
const GAP = 8;
const NARROW = 300;
const WIDE = 520;

/** @param {View} view */
export function callout(view) {
  const { t, faults } = view;
  if (faults.length === 0) return nothing;
  const said = faults.slice(0, MOST);
  return html`<div class="callout" id="schedule-faults">${said.map((fault, number) => faultLine(view, fault, number))}${faults.length > MOST ? html`<p class="fault">${t('inspector.more', { n: faults.length - MOST })}</p>` : nothing}</div>`;
}

/** @param {View} view @param {Fault} fault @param {number} number */
function faultLine(view, fault, number) {
  const { step } = placeOf(view.draft, fault);
  const name = step === null ? '' : view.t('step.name', { step });
  const where = name && !fault.message.toLowerCase().includes(name.toLowerCase()) ? html`<b>${name}</b> ` : nothing;
  const repair = repairs(view, fault);
  return html`<p class="fault" data-code=${fault.code}>${where}${fault.message}${repair ? html` <button type="button" class="btn main" data-edit="fix" data-fault=${number}>${repair}</button>` : nothing}</p>`;
}

/**
 * The element of the grid that faults are about: a cell, a request's prompt, a step's name, else the grid.
 * @param {HTMLElement} grid
 * @param {View} view
 */
export function anchorOf(grid, view) {
  const places = view.faults.map((fault) => placeOf(view.draft, fault));
  const { step, reqId } = places.find((place) => place.reqId !== null) ?? places[0];
  const at = reqId === null ? '' : `[data-req="${CSS.escape(reqId)}"]`;
  const found = at && step !== null ? grid.querySelector(`input${at}[data-step="${step}"]`) : at ? grid.querySelector(`tr${at} [data-prompt]`) : null;
  return /** @type {HTMLElement} */ (found ?? grid.querySelector(`[data-go-step="${step}"]`) ?? grid);
}

/**
 * Beside the grid at the height of the cell where there is room, else under the cell; under the grid while another cell
 * is edited, so that it hides none.
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
    Object.assign(box.style, { width: 'max-content', maxWidth: `${Math.min(free, WIDE)}px`, left: `${grid.right - plan.left + GAP}px` });
    box.style.top = `${clamp(at.top, grid.top, grid.bottom - at.height) - plan.top}px`;
    box.dataset.side = 'right';
    return;
  }
  const width = Math.min(WIDE, room.width);
  Object.assign(box.style, { width: 'max-content', maxWidth: `${width}px` });
  box.style.left = `${clamp(at.left, room.left, room.right - Math.min(width, box.offsetWidth)) - plan.left}px`;
  const other = panel.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && document.activeElement !== anchor;
  box.style.top = `${(other ? grid.bottom : clamp(at.bottom, grid.top, grid.bottom)) - plan.top + 3}px`;
  box.dataset.side = 'below';
}

/** @param {number} value @param {number} low @param {number} high */
function clamp(value, low, high) {
  return Math.max(low, Math.min(value, high));
}
