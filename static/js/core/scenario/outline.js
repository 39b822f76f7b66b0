// @ts-check
/**
 * Whether a document has a scenario's outline: enough of it to be drawn, so that whatever else is wrong with it can be
 * shown where it is. Whether it can be run, the server says. app/scenario/format/outline.py asks the same.
 */
import { BY_REQUEST, LISTS } from './edits.js';

/** @param {any} value */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
/** @param {any} value */
export const isText = (value) => typeof value === 'string';
/** @param {any} value @param {(value: any) => boolean} test */
export const isMissingOr = (value, test) => value === undefined || value === null || test(value);

/** @param {any} found @returns {boolean} */
export function hasOutline(found) {
  return (
    isObject(found) &&
    isMissingOr(found.title, isText) &&
    isMissingOr(found.start_step, (step) => Number.isInteger(step) && step >= 0) &&
    isMissingOr(found.config, isConfig) &&
    Array.isArray(found.requests) &&
    found.requests.every((/** @type {any} */ request) => isObject(request) && isText(request.req_id)) &&
    Array.isArray(found.steps) &&
    found.steps.every(isStep)
  );
}

/** @param {any} config */
function isConfig(config) {
  return (
    isObject(config) && isMissingOr(config.kv_cache_groups, (groups) => Array.isArray(groups) && groups.every(isObject))
  );
}

/** @param {any} step */
function isStep(step) {
  return (
    isObject(step) &&
    ['num_scheduled_tokens', ...BY_REQUEST].every((key) => isMissingOr(step[key], isByRequest)) &&
    LISTS.every((key) => isMissingOr(step[key], isNames))
  );
}

/** An object, or pairs that begin with a name. @param {any} value */
function isByRequest(value) {
  return (
    isObject(value) ||
    (Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && isText(pair[0])))
  );
}

/** @param {any} value */
function isNames(value) {
  return Array.isArray(value) && value.every(isText);
}
