// @ts-check
/** What the page guesses of scenarios, beside what the server says: both on stdin, by name; the differences on stdout. */
import { toDraft } from '../../static/js/core/scenario/edits.js';
import { Walk } from '../../static/js/core/scenario/walk.js';

let text = '';
for await (const part of process.stdin) text += part;
/** @type {[string, any, any[]][]} name, scenario, what is said of its steps */
const cases = JSON.parse(text);
for (const [name, scenario, said] of cases) {
  const draft = toDraft(scenario);
  const walk = new Walk(draft);
  said.forEach(({ works, removed, num_live }, step) => {
    const guessed = (draft.steps[step].num_scheduled_tokens ?? []).map(([req_id]) => {
      const { kind, computed, num_drafts, isAdmitted } =
        /** @type {import('../../static/js/core/scenario/walk.js').Work} */ (walk.work(step, req_id));
      return { name: req_id, kind, computed, num_drafts, isAdmitted };
    });
    const live = draft.requests.filter((_, row) => walk.where(step, row) === 'live').length;
    /** @type {Map<string, string>} */
    const left = new Map(removed);
    const gone = draft.requests.filter(({ req_id }, row) => left.has(req_id) && walk.where(step, row) !== left.get(req_id));
    if (JSON.stringify(guessed) !== JSON.stringify(works) || live !== num_live || gone.length > 0)
      console.log(JSON.stringify({ name, step, guessed, works, live, num_live, gone }));
  });
}
