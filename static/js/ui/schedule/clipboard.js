// @ts-check
/**
 * Copy, cut and paste of blocks of cells, as a spreadsheet does it. While a cell's text is edited the keys are the
 * browser's.
 */
import { copyBlock, pasteBlock, readBlock } from '../../core/scenario/clipboard.js';
import { rectangle } from '../../core/scenario/selection.js';
import { isTyped } from '../field.js';
import { markWord } from './cell.js';
import { say } from '../view.js';

/** A paste larger than this is not a block of a schedule. */
const MOST_CHARACTERS = 1 << 20;

/** @param {import('./schedule.js').Schedule} schedule */
export function connectClipboard(schedule) {
  const isCells = (/** @type {Event} */ event) =>
    event.target instanceof HTMLInputElement &&
    schedule.placeOfField(event.target) !== null &&
    schedule.editing !== event.target &&
    !isTyped(event.target);

  /** @param {ClipboardEvent} event */
  const copy = (event) => {
    const view = schedule.view;
    if (!view || !isCells(event) || !event.clipboardData) return;
    event.preventDefault();
    const block = rectangle(schedule.selection);
    event.clipboardData.setData(
      'text/plain',
      copyBlock(view.draft, block, (mark) => markWord(view.t, mark)),
    );
    if (event.type === 'cut') say(schedule, 'edit', { kind: 'clear', at: block });
    schedule.tell(
      view.t(
        event.type === 'cut' ? 'clipboard.cut' : 'clipboard.copied',
        sizeOf(view.t, block.bottom - block.top + 1, block.right - block.left + 1),
      ),
    );
  };
  schedule.addEventListener('copy', copy);
  schedule.addEventListener('cut', copy);
  schedule.addEventListener('paste', (event) => {
    const view = schedule.view;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!view || !isCells(event)) return;
    event.preventDefault();
    if (text === '') return;
    if (text.length > MOST_CHARACTERS)
      return schedule.tell(view.t('clipboard.too_large', { n: text.length, limit: MOST_CHARACTERS }));
    const at = rectangle(schedule.selection);
    const block = readBlock(text);
    const { rows, columns, cutRows, cutColumns } = pasteBlock(view.draft, at, block);
    say(schedule, 'edit', { kind: 'paste', at, block });
    const pasted = view.t('clipboard.pasted', sizeOf(view.t, rows, columns));
    const cut = cutRows + cutColumns > 0 ? ` ${view.t('clipboard.cut_off', sizeOf(view.t, cutRows, cutColumns))}` : '';
    schedule.selection = {
      anchor: { row: at.top, column: at.left },
      head: { row: at.top + rows - 1, column: at.left + columns - 1 },
    };
    schedule.tell(pasted + cut);
  });
}

/** @param {import('../../core/i18n.js').Translate} t @param {number} rows @param {number} columns */
function sizeOf(t, rows, columns) {
  return { requests: t('count.requests', { n: rows }), steps: t('count.steps', { n: columns }) };
}
