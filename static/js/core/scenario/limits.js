// @ts-check
/**
 * What holds where a scenario says nothing, and the most there can be, for those who ask for one number and not for the
 * whole format. The server's format says the same: tests/js/format.test.js.
 */

export const DEFAULTS = { max_num_reqs: 8, max_num_batched_tokens: 64, max_model_len: 128 };
export const MOST_REQUESTS = 4096;
export const MOST_STEPS = 512;
/** Characters. */
export const MOST_NAME = 128;
export const MOST_TITLE = 200;
export const MOST_DESCRIPTION = 4000;
