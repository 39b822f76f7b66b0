// @ts-check
/**
 * The schedule as it is read: requests down, steps across, the step at hand marked. Where nothing is edited it stands in the
 * place of the grid that one types in. Its cells of the step at hand are the cells of `schedule_num_tokens`.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { scheduled } from '../../core/scenario/edits.js';
import { markOf } from '../../core/scenario/entry.js';
import { sentenceAt } from '../../core/trace/summary.js';
import { cellKey } from '../../core/trace/trace.js';
import { visible } from '../../core/viewport.js';
import { rowHeight } from '../board/columns.js';
import { moveFocus, setEntry } from '../board/grid-keys.js';
import { markWord } from './cell.js';
import { requestClass, requestTag } from '../tag.js';
import { withTerms } from '../glossary/terms.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */

/** Below this many requests all of them are drawn. */
const MANY_ROWS = 60;
/** Steps side by side; of more, those around the one at hand. */
const MOST_STEPS = 8;

export class Plan extends HTMLElement {
  /** @type {View | null} */
  #view = null;

  connectedCallback() {
    this.addEventListener('scroll', () => this.#draw(), { capture: true, passive: true });
    this.addEventListener('keydown', (event) => {
      if (!moveFocus(this, event, { bring: (direction) => this.#bring(direction) })) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    this.#draw();
    setEntry(this);
  }

  /** @param {string} direction @returns {boolean} whether there was more to bring into sight */
  #bring(direction) {
    const scroller = this.querySelector('.scroll');
    if (!scroller || !this.#view || direction === 'left' || direction === 'right') return false;
    const before = scroller.scrollTop;
    const height = rowHeight(this.#view, true);
    if (direction === 'home') scroller.scrollTop = 0;
    else if (direction === 'end') scroller.scrollTop = scroller.scrollHeight;
    else scroller.scrollTop += direction === 'up' ? -height : height;
    this.#draw();
    return scroller.scrollTop !== before;
  }

  #draw() {
    const view = this.#view;
    if (!view) return;
    const { t, draft, stage } = view;
    const isShown = stage === 'schedule' || stage === 'all';
    render(
      isShown
        ? html`<section class="panel now plan" data-stage="schedule" data-current=${stage === 'schedule' ? '' : nothing}
          aria-labelledby="title-plan">
            <header><h2 id="title-plan">${t('stage.schedule')}</h2>${
              view.hasBoard
                ? html`<p
              class="sentence">${sentenceAt(view, 'schedule')}</p>`
                : nothing
            }</header>
            <div class="about"><p>${withTerms(view.schema, t('stage.schedule.what'))}</p><p
              class="why">${withTerms(view.schema, t('stage.schedule.why'))}</p></div>
            ${draft.requests.length === 0 ? html`<p class="empty">${t('plan.empty')}</p>` : this.#table(view)}
          </section>`
        : nothing,
      this,
    );
    say(this, 'drawn');
  }

  /** @param {View} view */
  #table(view) {
    const { t, draft, index, range } = view;
    const count = draft.requests.length;
    const height = rowHeight(view, true);
    const scroller = this.querySelector('.scroll');
    const rows =
      count <= MANY_ROWS
        ? { first: 0, last: count, before: 0, after: 0 }
        : visible({ scroll: scroller?.scrollTop ?? 0, extent: scroller?.clientHeight || 300, size: height, count });
    const first = Math.max(range.first, Math.min(index - Math.floor(MOST_STEPS / 2), range.last - MOST_STEPS + 1));
    const steps = Array.from(
      { length: draft.steps.length === 0 ? 0 : Math.min(MOST_STEPS, range.last - first + 1) },
      (_, place) => first + place,
    );
    const spacer = (/** @type {number} */ size) =>
      size > 0
        ? html`<tr class="spacer" aria-hidden="true"><td colspan=${steps.length + 1} .style=${`height:${size}px`}></td></tr>`
        : nothing;
    const names = view.step.space('schedule_req_ids')?.strings ?? [];
    const shown = { first: String(steps[0]), last: String(steps[steps.length - 1]) };
    const isCut = steps.length > 0 && (steps[0] > range.first || steps[steps.length - 1] < range.last);
    return html`<div class="scroll" role="presentation"><table role="grid" aria-label=${t('schedule.label')}
      aria-rowcount=${count + 1}>
        <thead><tr><th scope="col" class="r">${t('table.request')}</th>${steps.map(
          (step) => html`<th scope="col"
          class=${step === index ? 'now' : ''}><button type="button" data-go-step=${step}
          aria-current=${step === index ? 'step' : nothing}
          @click=${() => say(this, 'go', { step })}>${t('step.now', { step })}</button></th>`,
        )}</tr></thead>
        <tbody>${spacer(rows.before)}${draft.requests
          .slice(rows.first, rows.last)
          .map((request, place) => this.#row(view, request, rows.first + place, steps, names))}${spacer(rows.after)}</tbody>
      </table></div>
      ${
        isCut || count > MANY_ROWS
          ? html`<p
        class="window">${isCut ? t('plan.steps', { ...shown, n: range.last - range.first + 1 }) : nothing} ${
          count > MANY_ROWS ? t('plan.requests', { n: count }) : nothing
        }</p>`
          : nothing
      }`;
  }

  /**
   * @param {View} view
   * @param {import('../../core/scenario/edits.js').ScenarioRequest} request
   * @param {number} row
   * @param {number[]} steps
   * @param {(string | null)[]} names
   */
  #row(view, request, row, steps, names) {
    const { t, draft, index } = view;
    const name = request.req_id;
    const length = request.prompt_len ?? request.prompt_token_ids?.length ?? 0;
    return html`<tr class=${requestClass(view, name)} aria-rowindex=${row + 2} data-req=${name}>
      <th scope="row" class="r">${requestTag(view, name)} <span
        class="prompt">${t('schedule.prompt', { n: length })}</span></th>
      ${steps.map((step) => {
        const found = step === index ? names.indexOf(name) : -1;
        const mark = markOf(draft, step, name);
        const number = scheduled(draft, step, name);
        const kind = `${number !== undefined ? 'run' : mark ? 'mark' : ''} ${step === index ? 'now' : ''}`;
        const content = number !== undefined ? html`<span class="v">${number}</span>` : mark ? markWord(t, mark) : nothing;
        return found < 0
          ? html`<td class=${kind}>${content}</td>`
          : html`<td class="c ${kind}" tabindex="-1" data-cell=${cellKey('schedule_num_tokens', [found])}>${content}</td>`;
      })}
    </tr>`;
  }
}

customElements.define('pw-plan', Plan);
