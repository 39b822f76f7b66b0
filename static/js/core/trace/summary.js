// @ts-check
/**
 * One sentence about what a stage did in a step, with this step's own names and numbers: shown beside the stage and
 * announced when it becomes the current one. The step brings it along, in the reader's language; here is only said what
 * there is to say without one.
 */
import { ALL } from './schema.js';

/** @typedef {import('./trace.js').Step} Step */

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
 * @returns {string} '' where a stage has nothing to say
 */
export function stageSentence(step, stage, t) {
  if (stage === ALL)
    return t('summary.all', {
      tokens: t('count.tokens', { n: step.numTokens }),
      requests: t('count.requests', { n: step.numReqs }),
    });
  return step.json.sentences[stage] ?? (step.empty ? t('summary.empty') : '');
}
