// @ts-check
/**
 * One sentence about what a stage did in a step, with this step's own names and numbers: shown beside the
 * stage and announced when it becomes the current one.
 */
import { runs } from '../i18n.js';

/** @typedef {import('./trace.js').Step} Step */
/** @typedef {{key: string, params: Record<string, unknown>}} Sentence */

/** Names before the sentence stops listing. */
const MOST = 4;

/**
 * The sentence at a place of the trace, which may have stopped before it.
 * @param {{step: Step, index: number, stopped: {step: number} | null, t: import('../i18n.js').Translate}} view
 * @param {string} stage
 */
export function sentenceAt({ step, index, stopped, t }, stage) {
  return stopped && index >= stopped.step ? t('summary.not_computed') : stageSentence(step, stage, t);
}

/**
 * @param {Step} step
 * @param {string} stage
 * @param {import('../i18n.js').Translate} t
 * @returns {string}
 */
export function stageSentence(step, stage, t) {
  if (step.empty && stage !== 'state-pool' && stage !== 'all') return t('summary.empty');
  const list = (/** @type {string[]} */ parts) => {
    const shown = parts.slice(0, MOST).join(t('list.separator'));
    return parts.length > MOST ? t('list.more', { shown, n: parts.length - MOST }) : shown;
  };
  const perRequest = (/** @type {string} */ key, /** @type {string} */ name) =>
    step.json.req_ids.map((req_id, row) => t(key, { req_id, row, value: step.space(name)?.get([row]) }));
  switch (stage) {
    case 'schedule':
      return t('summary.schedule', {
        n: step.numTokens,
        tokens: t('count.tokens', { n: step.numTokens }),
        requests: t('count.requests', { n: step.numReqs }),
      });
    case 'state-pool': {
      const rows = [...step.rows].map(([req_id, row]) => t('summary.pool.row', { req_id, row }));
      const free = step.json.free_indices;
      const next =
        free.length > 0 ? t('summary.pool.next', { n: free.length, row: free[free.length - 1] }) : t('summary.pool.full');
      return rows.length > 0 ? t('summary.pool', { rows: list(rows), next }) : next;
    }
    case 'batch':
      return t('summary.batch', { rows: list(perRequest('summary.batch.row', 'idx_mapping')) });
    case 'flatten':
      return t('summary.flatten', {
        n: step.numTokens,
        rows: list(perRequest('summary.flatten.row', 'num_scheduled_tokens')),
      });
    case 'block-tables':
      return t('summary.block_tables', { n: step.numReqs });
    case 'slot-mapping': {
      const slots = step.space('slot_mappings');
      const real = (
        slots?.numbers?.subarray(0, Math.min(slots.rowLength([0]), step.numTokens)) ?? new Float64Array()
      ).filter((slot) => slot >= 0);
      return real.length > 0 ? t('summary.slot_mapping', { n: real.length, slots: runs(real) }) : t('summary.no_slot');
    }
    case 'kv-cache': {
      const ids = step.space('kv_block_ids');
      const written = step.space('kv_block_num_written');
      const touched = written?.numbers?.reduce((count, one) => count + (one > 0 ? 1 : 0), 0) ?? 0;
      return t('summary.kv_cache', { n: ids?.size ?? 0, used: t('count.blocks', { n: ids?.size ?? 0 }), touched });
    }
    case 'update':
      return t('summary.update', { rows: list(perRequest('summary.update.row', 'num_computed_tokens_after')) });
    default:
      return t('summary.all', {
        tokens: t('count.tokens', { n: step.numTokens }),
        requests: t('count.requests', { n: step.numReqs }),
      });
  }
}
