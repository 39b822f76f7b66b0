// @ts-check
/**
 * Blocks of cells to and from a spreadsheet: text with tabs between the columns and a line for each row.
 */
import { MOST_REQUESTS, MOST_STEPS } from './limits.js';
import { NEW_PROMPT, freeName, scheduled, setPromptLen } from './edits.js';
import { markOf, readEntry, readLength, setEntry } from './entry.js';
import { promptLength } from './walk.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {import('./selection.js').Rectangle} Rectangle */
/** @typedef {import('./selection.js').Place} Place */
/**
 * @typedef {{draft: Scenario, rows: number, columns: number, cutRows: number, cutColumns: number}} Pasted  what was
 *   written, and what found no room
 */

/**
 * @param {Scenario} draft
 * @param {Rectangle} rectangle
 * @param {(mark: import('./entry.js').Mark) => string} word of the reader's language
 */
export function copyBlock(draft, { top, left, bottom, right }, word) {
  const cell = (/** @type {import('./edits.js').ScenarioRequest} */ request, /** @type {number} */ column) => {
    if (column < 0) return String(promptLength(request));
    const count = scheduled(draft, column, request.req_id);
    const mark = markOf(draft, column, request.req_id);
    return count !== undefined ? String(count) : mark ? word(mark) : '';
  };
  return draft.requests
    .slice(top, bottom + 1)
    .map((request) => Array.from({ length: right - left + 1 }, (_, place) => cell(request, left + place)).join('\t'))
    .join('\n');
}

/**
 * Text of a spreadsheet as rows of cells; a cell in quotes may hold line breaks and doubled quotes.
 * @param {string} text @returns {string[][]}
 */
export function readBlock(text) {
  /** @type {string[][]} */
  const rows = [[]];
  const cells = /(?:"((?:[^"]|"")*)"|([^\t\r\n]*))(\t|\r\n|\r|\n|$)/gy;
  const whole = text.replace(/(\r\n|\r|\n)$/, '');
  for (let found = cells.exec(whole); found; found = cells.exec(whole)) {
    rows[rows.length - 1].push((found[1]?.replace(/""/g, '"') ?? found[2]).trim());
    if (found[3] === '') break;
    if (found[3] !== '\t') rows.push([]);
  }
  return rows;
}

/**
 * Writes a block from a cell on. Requests and steps that it needs are added, as far as the format goes; one cell fills the
 * whole selection.
 * @param {Scenario} draft @param {Rectangle} at @param {string[][]} block @returns {Pasted}
 */
export function pasteBlock(draft, at, block) {
  const isOne = block.length === 1 && block[0].length === 1;
  const height = isOne ? at.bottom - at.top + 1 : block.length;
  const width = isOne ? at.right - at.left + 1 : Math.max(...block.map((row) => row.length));
  const rows = Math.min(height, MOST_REQUESTS - at.top);
  const columns = Math.min(width, MOST_STEPS - at.left);
  const cell = (/** @type {number} */ row, /** @type {number} */ column) =>
    (at.left + column < 0 ? readLength : readEntry)(isOne ? block[0][0] : (block[row]?.[column] ?? ''));
  let next = draft;
  const last = at.left + columns;
  if (last > next.steps.length)
    next = {
      ...next,
      steps: [...next.steps, ...Array.from({ length: last - next.steps.length }, () => ({ num_scheduled_tokens: [] }))],
    };
  for (let row = 0; row < rows; row += 1) {
    const entries = Array.from({ length: columns }, (_, column) => cell(row, column));
    if (at.top + row >= next.requests.length) {
      const added = { req_id: freeName(next), prompt_len: promptOf(entries.filter((_, column) => at.left + column >= 0)) };
      next = { ...next, requests: [...next.requests, added] };
    }
    const { req_id } = next.requests[at.top + row];
    for (const [column, entry] of entries.entries()) {
      const step = at.left + column;
      if (step >= 0) next = setEntry(next, step, req_id, entry);
      else if (entry !== null) next = setPromptLen(next, at.top + row, entry);
    }
  }
  return { draft: next, rows, columns, cutRows: height - rows, cutColumns: width - columns };
}

/**
 * The prompt of a request that comes with its counts: what it runs before its first single token.
 * @param {(number | string | null)[]} entries
 */
function promptOf(entries) {
  let length = 0;
  for (const entry of entries) {
    if (typeof entry !== 'number') continue;
    if (length > 0 && entry === 1) break;
    length += entry;
  }
  return length || NEW_PROMPT;
}

/** @param {Scenario} draft @param {Rectangle} at @returns {Scenario} with nothing in these cells; prompts stay */
export function clearBlock(draft, { top, left, bottom, right }) {
  let next = draft;
  for (const { req_id } of draft.requests.slice(top, bottom + 1)) {
    for (let step = Math.max(0, left); step <= Math.min(right, draft.steps.length - 1); step += 1) {
      if (scheduled(next, step, req_id) !== undefined || markOf(next, step, req_id))
        next = setEntry(next, step, req_id, null);
    }
  }
  return next;
}
