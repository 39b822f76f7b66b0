// @ts-check
/** What the page guesses of scenarios, beside what the server says: both on stdin, by name; the differences on stdout. */
import { toDraft } from '../../static/js/core/scenario/edits.js';
import { Walk } from '../../static/js/core/scenario/walk.js';

let text = '';
for await (const part of process.stdin) text += part;
/** @type {[string, any, any[]][]} name, scenario, summary */
const cases = JSON.parse(text);
for (const [name, scenario, summary] of cases) {
  const draft = toDraft(scenario);
  const walk = new Walk(draft);
  summary.forEach(({ kinds, num_live }, step) => {
    const guessed = (draft.steps[step].num_scheduled_tokens ?? []).map(([req_id]) => walk.work(step, req_id)?.kind);
    const live = draft.requests.filter((_, row) => walk.where(step, row) === 'live').length;
    if (JSON.stringify(guessed) !== JSON.stringify(kinds) || live !== num_live)
      console.log(JSON.stringify({ name, step, guessed, kinds, live, num_live }));
  });
}
