// @ts-check
/** The mouse in the grid: a click selects a cell, a second one sets the caret, dragging or Shift selects a block. */
import * as selecting from '../../core/scenario/selection.js';
import { say } from '../view.js';

/** @param {import('./schedule.js').Schedule} schedule */
export function connectPointer(schedule) {
  let isDragging = false;
  schedule.addEventListener('mousedown', (event) => {
    const field = event.target;
    const menu = field instanceof Element ? field.closest('[data-menu]') : null;
    if (menu) {
      event.preventDefault(); // the cell has the keyboard, and what is said of it stays where it is
      /** @type {HTMLElement} */ (menu.previousElementSibling).focus({ preventScroll: true });
      return;
    }
    const place = schedule.placeOfField(field);
    if (!place || !(field instanceof HTMLInputElement) || event.button !== 0) return;
    if (event.shiftKey) {
      event.preventDefault();
      schedule.select({ anchor: schedule.selection.anchor, head: place });
      return;
    }
    if (field === document.activeElement) {
      schedule.editing = field; // the browser sets the caret
      if (selecting.isMany(schedule.selection)) schedule.select(selecting.only(place));
      return;
    }
    event.preventDefault();
    field.focus({ preventScroll: true });
    isDragging = true;
  });
  schedule.addEventListener('mousemove', (event) => {
    if (!isDragging) return;
    if ((event.buttons & 1) === 0) {
      isDragging = false;
      return;
    }
    const cell = event.target instanceof Element ? event.target.closest('td')?.querySelector('input') : null;
    const place = schedule.placeOfField(cell ?? null);
    const { head } = schedule.selection;
    if (place && (place.row !== head.row || place.column !== head.column))
      schedule.select({ anchor: schedule.selection.anchor, head: place });
  });
  addEventListener('mouseup', () => {
    isDragging = false;
  });
  schedule.addEventListener('dblclick', (event) => {
    const named = event.target instanceof Element ? event.target.closest('[data-name]') : null;
    if (named instanceof HTMLElement) say(schedule, 'rename', { row: Number(named.dataset.name) });
  });
}
