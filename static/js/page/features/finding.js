// @ts-check
/** The find box and the workbench: the steps it may look through, and going to what was found. */
import { hear, say } from '../../ui/view.js';
import { ALL } from '../../core/trace/schema.js';
import { cellKey } from '../../core/trace/trace.js';
import { Problem, Unreachable } from '../api.js';

/** @typedef {import('../state/workbench.js').Workbench} Workbench */

/** Steps brought near for a question, at most; fewer where steps are large. */
const MOST_STEPS = 20;
const MOST_TOKENS = 40_000;

/** @param {Workbench} bench */
export function connectFinding(bench) {
  const box = /** @type {import('../../ui/find/find.js').Find} */ (document.querySelector('pw-find'));
  box.others = () => [...bench.trace.steps.values()];
  box.scheduled = (index) => (bench.trace.scenario.steps[index]?.num_scheduled_tokens ?? []).map(([name]) => name);
  /** @type {import('../../ui/messages.js').Handlers<import('../../ui/messages.js').FindMessages>} */
  const handlers = {
    gather: () =>
      gather(bench, () => {
        box.view = bench.view();
      }),
    found: (hit) => go(bench, hit),
  };
  hear(document, handlers);
}

/**
 * Fetches the steps around the one on screen, nearest first, and asks again when they are there.
 * @param {Workbench} bench
 * @param {() => void} arrived
 */
async function gather(bench, arrived) {
  const { trace, index } = bench;
  const indices = Array.from({ length: trace.numComputed }, (_, step) => step).sort(
    (a, b) => Math.abs(a - index) - Math.abs(b - index),
  );
  let tokens = 0;
  for (const step of indices.slice(0, MOST_STEPS)) {
    tokens += trace.summary[step]?.num_tokens ?? 0;
    if (trace.has(step)) continue;
    if (tokens > MOST_TOKENS) return;
    try {
      await trace.load(step);
    } catch (error) {
      if (error instanceof Problem || error instanceof Unreachable) return; // what is at hand is searched, and said to be all
      throw error;
    }
    if (trace !== bench.trace) return;
    arrived();
  }
}

/** @param {Workbench} bench @param {import('../../core/find/find.js').Hit} hit */
async function go(bench, hit) {
  if (hit.term) {
    say(document, 'term', { term: hit.term });
    return;
  }
  if (!hit.cell) {
    // A request that a step runs is in its schedule; what a slot or a block is, the map of the pool shows.
    const pool = bench.schema.def('kv_block_ids')?.stage ?? bench.stage;
    await bench.go({ step: hit.step, stage: hit.kind === 'request' ? bench.schema.firstStage : pool });
    return;
  }
  const { space, at } = hit.cell;
  const stage = bench.schema.def(space)?.stage;
  await bench.setPin({ space, at, step: hit.step });
  // A small panel leaves some tensors out, and a talk or a frame the other stages: then the stage is the one to be at.
  const isShown = bench.stage === ALL || (bench.mode === 'board' && bench.schema.isKey(space));
  if (stage && stage !== bench.stage && !isShown) await bench.go({ stage });
  // Drawn in the next frame, scrolled inside its table in the same one.
  requestAnimationFrame(() => requestAnimationFrame(() => reach(cellKey(space, at), stage)));
}

/**
 * The cell is where the keyboard goes on from, so that arrows walk to its neighbours.
 * @param {string} key
 * @param {string | undefined} stage
 */
function reach(key, stage) {
  const cells = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(`[data-cell="${CSS.escape(key)}"]`)]);
  const cell =
    cells.find((one) => one.closest('[data-stage]')?.getAttribute('data-stage') === stage && one.offsetParent) ??
    cells.find((one) => one.offsetParent);
  cell?.focus({ preventScroll: true });
  cell?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
}
