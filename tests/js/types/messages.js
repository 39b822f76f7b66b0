// @ts-check
/**
 * What must be a type error, read by `tsc` with everything else: a line that is none fails the check (an unused
 * `@ts-expect-error`). Nothing here runs.
 */
import { changed } from '../../../static/js/page/state/editing.js';
import { hear, say } from '../../../static/js/ui/view.js';

/** @typedef {import('../../../static/js/ui/messages.js').Edit} Edit */
/** @typedef {import('../../../static/js/core/scenario/edits.js').Scenario} Scenario */

/** @param {EventTarget} from @param {import('../../../static/js/page/state/workbench.js').Workbench} bench */
export function wrong(from, bench) {
  say(from, 'undo');
  say(from, 'walk', { by: 1 });
  say(from, 'edit', { kind: 'add-step' });

  // @ts-expect-error an unknown message
  say(from, 'unknown');
  // @ts-expect-error nothing is said with it
  say(from, 'walk');
  // @ts-expect-error it says no step
  say(from, 'walk', { step: 1 });
  // @ts-expect-error something is said with what says nothing
  say(from, 'undo', { by: 1 });
  // @ts-expect-error an unknown edit
  say(from, 'edit', { kind: 'unknown' });
  // @ts-expect-error an edit that lacks what it changes
  say(from, 'edit', { kind: 'order', step: 1, req_id: 'A' });

  // @ts-expect-error an unknown edit
  changed(bench.draft, { kind: 'unknown' });

  /** @type {import('../../../static/js/ui/messages.js').Handlers<ConfigMessages>} */
  // @ts-expect-error a kind that nobody hears
  const handlers = { 'config-toggle': () => {} };
  hear(from, handlers);
  // @ts-expect-error an unknown kind
  hear(from, { unknown: () => {} });

  // The state of the page is changed by its verbs.
  // @ts-expect-error
  bench.draft = bench.draft;
  // @ts-expect-error
  bench.hover = null;
  // @ts-expect-error
  bench.notices.push({ kind: '', message: '' });
  // @ts-expect-error
  bench.course.index = 1;
}

/** @typedef {import('../../../static/js/ui/messages.js').ConfigMessages} ConfigMessages */
