// @ts-check
/** The keyboard in the schedule: in a cell the habits of a spreadsheet, at the edges a way back, in the details Escape. */
import * as selecting from '../../core/scenario/selection.js';
import { isTyped, restore, typeIn } from '../field.js';
import { openMenuOf } from './buttons.js';
import { actionOf } from './keys.js';
import { say } from '../view.js';

/** @typedef {import('./schedule.js').Schedule} Schedule */
/** @typedef {selecting.Place} Place */

/** @param {Schedule} schedule */
export function connectTyping(schedule) {
  schedule.addEventListener('keydown', (event) => {
    const target = event.target;
    if (!schedule.view || !(target instanceof HTMLElement)) return;
    if (target.dataset.rename !== undefined) renameKey(schedule, event, /** @type {HTMLInputElement} */ (target));
    else if (target.closest('.details')) detailsKey(schedule, event, target);
    else if (target.closest('[data-edit="add-step"], [data-edit="add-request"]')) edgeKey(schedule, event, target);
    else {
      const place = schedule.placeOfField(target);
      if (place) cellKey(schedule, event, /** @type {HTMLInputElement} */ (target), place);
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'F8' || !schedule.view?.faults.length || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    schedule.goToFault(event.shiftKey ? -1 : 1);
  });
}

/** @param {Schedule} schedule @param {KeyboardEvent} event @param {HTMLInputElement} input @param {Place} place */
function cellKey(schedule, event, input, place) {
  const { rows, columns } = schedule.size;
  const action = actionOf(event, { isEditing: schedule.editing === input, isTyped: isTyped(input) });
  if (action.do === 'native') return;
  if (action.do === 'move' && event.key === 'Tab' && place.column + action.right < -1) return schedule.commit(input);
  event.preventDefault();
  schedule.hush();
  if (action.do === 'restore') event.stopPropagation();
  const block = selecting.rectangle(schedule.selection);
  switch (action.do) {
    case 'move': {
      schedule.commit(input);
      const to = { row: place.row + action.down, column: place.column + action.right };
      if (to.column >= columns) return edge(schedule, 'add-step')?.focus();
      if (to.row >= rows && !action.commit) return edge(schedule, 'add-request')?.focus();
      return schedule.go(to);
    }
    case 'extend':
      return schedule.select(selecting.extend(schedule.selection, action.down, action.right, schedule.size));
    case 'all':
      return schedule.select(selecting.everything(schedule.size));
    case 'edge':
      return schedule.go({
        row: action.to === 'first' ? 0 : action.to === 'last' ? rows - 1 : place.row,
        column: action.to === 'start' || action.to === 'first' ? 0 : columns - 1,
      });
    case 'clear':
      return say(schedule, 'edit', { kind: 'clear', at: block });
    case 'fill': {
      const text = input.value;
      restore(input);
      return say(schedule, 'edit', { kind: 'paste', at: block, block: [[text]] });
    }
    case 'restore':
      restore(input);
      schedule.editing = null;
      input.select(); // the keyboard stays where it is
      return schedule.select(selecting.only(place));
    case 'edit':
      schedule.editing = input;
      return input.setSelectionRange(input.value.length, input.value.length);
    case 'menu':
      schedule.commit(input);
      return openMenuOf(schedule, input);
    case 'details':
      schedule.commit(input);
      return schedule.openDetails({});
    case 'arrange':
      schedule.commit(input);
      return arrange(schedule, place, action);
  }
}

/**
 * The request, or the step, of a cell one place further.
 * @param {Schedule} schedule
 * @param {Place} place
 * @param {{down: number, right: number}} by
 */
function arrange(schedule, place, { down, right }) {
  const to = { row: place.row + down, column: place.column + right };
  const there = selecting.clip(to, schedule.size);
  if (there.row !== to.row || there.column !== to.column || (right !== 0 && (place.column < 0 || to.column < 0))) return;
  say(
    schedule,
    'edit',
    down !== 0 ? { kind: 'move-request', row: place.row, by: down } : { kind: 'move-step', step: place.column, by: right },
  );
}

/** @param {Schedule} schedule @param {'add-step' | 'add-request'} edit @returns {HTMLElement | null} */
function edge(schedule, edit) {
  return schedule.querySelector(`.plan [data-edit="${edit}"]`);
}

/** What a cell can begin with: what is typed at an edge is for the cell that it adds. */
const ENTRY = /^[\dfp]$/i;

/**
 * From the buttons at the edges of the grid the arrows lead back into it. Whoever types there types in the cell that the
 * button adds: it is there before the next key.
 * @param {Schedule} schedule @param {KeyboardEvent} event @param {HTMLElement} button
 */
function edgeKey(schedule, event, button) {
  const { key } = event;
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.repeat && (key === 'Enter' || key === ' ')) {
    event.preventDefault(); // one press, one cell
    event.stopPropagation();
    return;
  }
  if (ENTRY.test(key)) {
    event.preventDefault();
    event.stopPropagation();
    button.click();
    const cell = document.activeElement;
    if (cell instanceof HTMLInputElement && schedule.placeOfField(cell)) typeIn(cell, key);
    return;
  }
  if (!key.startsWith('Arrow') || event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation();
  const back = button.dataset.edit === 'add-step' ? ['ArrowLeft', 'ArrowDown'] : ['ArrowUp', 'ArrowRight'];
  if (back.includes(key)) schedule.go(schedule.selection.anchor);
}

/** @param {Schedule} schedule @param {KeyboardEvent} event @param {HTMLInputElement} input */
function renameKey(schedule, event, input) {
  if ((event.key !== 'Enter' && event.key !== 'Escape') || event.isComposing) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.key === 'Escape') restore(input);
  schedule.want({ row: Number(input.dataset.rename), column: schedule.selection.anchor.column });
  schedule.renamed(input);
}

/**
 * Escape gives a field its value back, then the keyboard to the cell.
 * @param {Schedule} schedule
 * @param {KeyboardEvent} event
 * @param {HTMLElement} target
 */
function detailsKey(schedule, event, target) {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  event.stopPropagation();
  if (target instanceof HTMLInputElement && isTyped(target)) restore(target);
  else schedule.go(schedule.selection.anchor);
}
