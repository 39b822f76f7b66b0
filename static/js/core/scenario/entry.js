// @ts-check
/**
 * What a cell of the schedule holds and what may be typed into it: how many tokens run, or that the request finishes or
 * is preempted there. Typed text in, a scenario out.
 */
import { dropDetails, setScheduled } from './edits.js';

/** @typedef {import('./edits.js').Scenario} Scenario */
/** @typedef {'finish' | 'preempt'} Mark */
/**
 * Where a request is: not in the pool yet, in it, finished, or preempted until it is scheduled again.
 * @typedef {'waiting' | 'live' | 'finished' | 'preempted'} Residence
 */
/** @typedef {{where: string, code: string, key: string, params: {step: number | null, req_id: string}}} EntryFault */

/** The list of a step that says each mark. @type {Record<Mark, string>} */
const LISTS = { finish: 'finished_req_ids', preempt: 'preempted_req_ids' };
/**
 * What is typed for a mark, in any language of the page; the first is what is copied in English.
 * @type {Record<Mark, string[]>}
 */
const WORDS = {
  finish: ['finish', 'f', 'finished', 'finishes', '结束', '完成'],
  preempt: ['preempt', 'p', 'preempted', '抢占'],
};
const MARKS = /** @type {Mark[]} */ (Object.keys(LISTS));
/** 1,024 as a spreadsheet shows it. */
const GROUPED = /^\d{1,3}(,\d{3})+$/;

/**
 * @param {string} text as typed
 * @returns {number | Mark | string | null} null: not scheduled; any other text is no entry, and stays as it is to be said
 */
export function readEntry(text) {
  const typed = text.trim().normalize('NFKC');
  if (typed === '') return null;
  const mark = MARKS.find((name) => WORDS[name].includes(typed.toLowerCase()));
  if (mark) return mark;
  const number = Number(typed.replace(GROUPED, (whole) => whole.replace(/,/g, '')));
  if (!/^[\d,]{1,13}$/.test(typed) || !(number < 1e10)) return typed;
  return number === 0 ? null : number;
}

/** A prompt has a length and no mark. @param {string} text as typed @returns {number | string | null} */
export function readLength(text) {
  const value = readEntry(text);
  return value === 'finish' || value === 'preempt' ? text.trim() : value;
}

/** @param {Scenario} draft @param {number} step @param {string} reqId @returns {Mark | null} */
export function markOf(draft, step, reqId) {
  return MARKS.find((mark) => draft.steps[step]?.[LISTS[mark]]?.includes(reqId)) ?? null;
}

/**
 * A cell holds one thing: a count takes the mark away, a mark the count, and with the count goes what is said of its tokens.
 * @param {Scenario} draft
 * @param {number} step
 * @param {string} reqId
 * @param {number | Mark | string | null} entry
 * @returns {Scenario}
 */
export function setEntry(draft, step, reqId, entry) {
  const mark = MARKS.find((name) => name === entry) ?? null;
  const isEmpty = mark !== null || entry === null;
  const counted = setScheduled(isEmpty ? dropDetails(draft, step, reqId) : draft, step, reqId, isEmpty ? null : entry);
  const steps = counted.steps.map((old, index) => {
    if (index !== step) return old;
    const next = { ...old };
    for (const name of MARKS) {
      const others = (old[LISTS[name]] ?? []).filter((/** @type {string} */ one) => one !== reqId);
      const names = name === mark ? [...others, reqId] : others;
      if (names.length > 0) next[LISTS[name]] = names;
      else delete next[LISTS[name]];
    }
    return next;
  });
  return { ...counted, steps };
}

/**
 * Entries that are no whole number of tokens: nothing that the server need be asked about. `key` names the sentence.
 * @param {Scenario} draft
 * @returns {EntryFault[]}
 */
export function entryFaults(draft) {
  /** @type {EntryFault[]} */
  const faults = [];
  draft.requests.forEach(({ req_id, prompt_len: length, prompt_token_ids: ids }, place) => {
    if (ids === undefined && !isCount(length))
      faults.push({
        where: `/requests/${place}/prompt_len`,
        code: 'entry',
        key: 'entry.prompt',
        params: { step: null, req_id },
      });
  });
  draft.steps.forEach(({ num_scheduled_tokens: pairs }, step) => {
    (pairs ?? []).forEach(([req_id, count], place) => {
      if (!isCount(count))
        faults.push({
          where: `/steps/${step}/num_scheduled_tokens/${place}/1`,
          code: 'entry',
          key: 'entry.count',
          params: { step, req_id },
        });
    });
  });
  return faults;
}

/** @param {unknown} value */
function isCount(value) {
  return Number.isInteger(value) && Number(value) > 0;
}
