// @ts-check
/** What each key does in the schedule, by what has the keyboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionOf } from '../../static/js/ui/schedule/keys.js';

const at = { isEditing: false, isTyped: false };
/** @param {string} key with its modifiers, as "Shift+Enter" @param {Partial<typeof at>} [field] */
const action = (key, field = {}) => {
  const parts = key.split('+');
  return actionOf(
    /** @type {KeyboardEvent} */ ({
      key: parts.at(-1),
      shiftKey: parts.includes('Shift'),
      ctrlKey: parts.includes('Ctrl'),
      metaKey: false,
      altKey: parts.includes('Alt'),
      isComposing: false,
    }),
    { ...at, ...field },
  );
};

test("arrows go from cell to cell, with Shift they select, inside a text they are the text's", () => {
  assert.deepEqual(action('ArrowRight'), { do: 'move', down: 0, right: 1 });
  assert.deepEqual(action('Shift+ArrowUp'), { do: 'extend', down: -1, right: 0 });
  assert.deepEqual(action('ArrowRight', { isTyped: true }), { do: 'move', down: 0, right: 1 });
  assert.deepEqual(action('ArrowRight', { isEditing: true }), { do: 'native' });
  assert.deepEqual(action('ArrowDown', { isEditing: true }), { do: 'move', down: 1, right: 0 });
  assert.deepEqual(action('Alt+Shift+ArrowUp'), { do: 'arrange', down: -1, right: 0 });
});

test('Enter takes what is typed and goes on; Tab does where something is typed, else it leaves the grid', () => {
  assert.deepEqual(action('Enter', { isTyped: true }), { do: 'move', down: 1, right: 0, commit: true });
  assert.deepEqual(action('Shift+Enter'), { do: 'move', down: -1, right: 0, commit: true });
  assert.deepEqual(action('Tab', { isTyped: true }), { do: 'move', down: 0, right: 1, commit: true });
  assert.deepEqual(action('Tab'), { do: 'native' });
  assert.deepEqual(action('Ctrl+Enter'), { do: 'fill' });
});

test('Delete empties cells, or removes a character of what is typed', () => {
  assert.deepEqual(action('Delete'), { do: 'clear' });
  assert.deepEqual(action('Backspace', { isTyped: true }), { do: 'native' });
  assert.deepEqual(action('Ctrl+a'), { do: 'all' });
  assert.deepEqual(action('Ctrl+a', { isEditing: true }), { do: 'native' });
  assert.deepEqual(action('Ctrl+c'), { do: 'native' });
});

test('details, menu, text and the way back have keys; a letter is typed', () => {
  assert.deepEqual(
    ['Alt+Enter', 'Alt+ArrowDown', 'F2', 'Escape', 'f', 'Alt+ArrowLeft'].map((key) => action(key).do),
    ['details', 'menu', 'edit', 'restore', 'native', 'native'],
  );
});
