// @ts-check
/** What a key means in a cell of the schedule: the habits of a spreadsheet. */

/**
 * @typedef {{do: 'move', down: number, right: number, commit?: boolean} | {do: 'extend', down: number, right: number}
 * | {do: 'edge', to: 'start' | 'end' | 'first' | 'last'} | {do: 'all' | 'clear' | 'fill' | 'restore' | 'edit' | 'menu' |
 * 'details' | 'native'}
 *   | {do: 'arrange', down: number, right: number}} Action
 */

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * @param {KeyboardEvent} event
 * @param {{isEditing: boolean, isTyped: boolean}} field  editing: the caret moves inside the text; typed: it holds
 *   something that is not in the draft yet
 * @returns {Action} native: the browser's own
 */
export function actionOf(event, { isEditing, isTyped }) {
  const { key, shiftKey, altKey } = event;
  const command = event.ctrlKey || event.metaKey;
  if (event.isComposing) return { do: 'native' };
  const arrow = ARROWS[key];
  if (arrow && altKey && shiftKey && !command) return { do: 'arrange', down: arrow[0], right: arrow[1] };
  if (altKey && !command)
    return key === 'ArrowDown' ? { do: 'menu' } : key === 'Enter' ? { do: 'details' } : { do: 'native' };
  if (key === 'Enter') return command ? { do: 'fill' } : { do: 'move', down: shiftKey ? -1 : 1, right: 0, commit: true };
  if (key === 'Tab')
    return isTyped && !command ? { do: 'move', down: 0, right: shiftKey ? -1 : 1, commit: true } : { do: 'native' };
  if (key === 'Escape') return { do: 'restore' };
  if (key === 'F2') return { do: 'edit' };
  if (command) {
    if (isEditing || isTyped) return { do: 'native' };
    if (key.toLowerCase() === 'a' && !shiftKey) return { do: 'all' };
    if (key === 'Home' || key === 'End') return { do: 'edge', to: key === 'Home' ? 'first' : 'last' };
    return { do: 'native' };
  }
  if (arrow) {
    if (isEditing && arrow[1] !== 0) return { do: 'native' };
    return shiftKey && !isTyped && !isEditing
      ? { do: 'extend', down: arrow[0], right: arrow[1] }
      : { do: 'move', down: arrow[0], right: arrow[1] };
  }
  if (isEditing || isTyped) return { do: 'native' };
  if (key === 'Home' || key === 'End') return { do: 'edge', to: key === 'Home' ? 'start' : 'end' };
  if (key === 'PageUp' || key === 'PageDown') return { do: 'move', down: key === 'PageUp' ? -8 : 8, right: 0 };
  if (key === 'Delete' || key === 'Backspace') return { do: 'clear' };
  return { do: 'native' };
}
