// @ts-check
/** The buttons of the schedule and the menus of its cells, requests and steps. */
import { cellItems, requestItems, stepItems } from './menu.js';
import { afterButton } from './places.js';
import { say } from '../view.js';

/** @typedef {import('./schedule.js').Schedule} Schedule */

/** @param {Schedule} schedule */
export function connectButtons(schedule) {
  schedule.addEventListener('click', (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest('button');
    const view = schedule.view;
    if (!button || !view) return;
    const { goStep, edit, step, requestMenu, stepMenu, stay, notice } = button.dataset;
    /** What a button of a repair repairs. @type {import('../view.js').Fault | undefined} */
    const fault = /** @type {any} */ (button).fault;
    if ((edit !== undefined || notice !== undefined || fault) && stay === undefined)
      schedule.want(afterButton(view, { edit, notice, fault }, schedule.selection.anchor));
    if (button.dataset.menu !== undefined)
      openMenuOf(schedule, /** @type {HTMLInputElement} */ (button.previousElementSibling));
    else if (requestMenu !== undefined) open(schedule, button.ariaLabel, requestItems(view, Number(requestMenu)), button);
    else if (stepMenu !== undefined)
      open(schedule, button.ariaLabel, stepItems(view, Number(stepMenu)), button, button.parentElement);
    else if (button.dataset.nextFault !== undefined) schedule.goToFault(1);
    else if (button.dataset.new !== undefined) schedule.want('first');
    else if (button.dataset.detailsToggle !== undefined) schedule.toggleDetails();
    else if (goStep !== undefined) say(schedule, 'go', { step: Number(goStep) });
    else if (notice === 'revert') say(schedule, 'revert');
    else if (fault) say(schedule, 'edit', { kind: 'fix', faults: [fault] });
    else if (edit === 'add-request') say(schedule, 'edit', { kind: edit, step: Number(step) });
    else if (edit === 'add-step') say(schedule, 'edit', { kind: edit });
  });
}

/** The menu of a field's cell, or of its request. @param {Schedule} schedule @param {HTMLInputElement} field */
export function openMenuOf(schedule, field) {
  const place = schedule.placeOfField(field);
  const view = schedule.view;
  if (!place || !view) return;
  const { req_id } = view.draft.requests[place.row];
  if (place.column < 0) open(schedule, view.t('request.menu', { req_id }), requestItems(view, place.row), field);
  else
    open(schedule, view.t('entry.menu', { req_id, step: place.column }), cellItems(view, place), field, field.parentElement);
}

/**
 * @param {Schedule} schedule
 * @param {string | null} label
 * @param {import('./menu.js').Item[]} items
 * @param {HTMLElement} opener
 * @param {HTMLElement | null} [beside]
 */
function open(schedule, label, items, opener, beside) {
  /** @type {import('./menu.js').ScheduleMenu} */ (schedule.querySelector('pw-schedule-menu')).open(
    label ?? '',
    items,
    opener,
    beside ?? opener,
  );
}
