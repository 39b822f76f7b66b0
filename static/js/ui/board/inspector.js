// @ts-check
/**
 * Everything about the cell that is looked at: value, meaning, formula with its numbers, the walk through the
 * index spaces, the code that computed it. Every number that is a cell is a button that pins it.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import { before } from '../../core/trace/changes.js';
import { explain } from '../../core/trace/explain.js';
import { formulaText, show } from '../../core/trace/formula.js';
import { STATE_TERMS } from '../../core/glossary.js';
import { groupDigits } from '../../core/i18n.js';
import { cellKey, isNull } from '../../core/trace/trace.js';
import { stateWords, valueText } from './cell.js';
import { fateWords } from '../kv/words.js';
import { accentOf, dimName, named } from '../names.js';
import { requestTag } from '../tag.js';
import { termButton } from '../glossary/terms.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../../core/trace/formula.js').Piece} Piece */
/** @typedef {import('../../core/trace/explain.js').Explanation} Explanation */

const MOST_USES = 6;
const MOST_FOLLOWED = 8;
const INT32 = 2 ** 31;

export class Inspector extends HTMLElement {
  /** @type {View | null} */
  #view = null;

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    const look = view.look && view.look.step === view.index ? view.look : null;
    const cell = look ? explain(view.links, look.space, look.at, { group: view.group }) : null;
    render(html`${cell ? this.#cell(view, cell) : this.#invitation(view)}${checks(view, cell)}`, this);
    this.toggleAttribute('data-cell-shown', cell !== null);
  }

  /** Nothing is looked at: how to begin. @param {View} view */
  #invitation(view) {
    const { t, step } = view;
    return html`<section class="invitation">
      <h2>${t('inspector.title')}</h2>
      <p>${t('inspector.how')}</p>
      ${
        step.empty
          ? nothing
          : html`<h3>${t('inspector.follow')}</h3>
          <ul
            class="follow">${step.json.req_ids.slice(0, MOST_FOLLOWED).map((req_id, row) => html`<li>${follow(view, req_id, row)}</li>`)}</ul>`
      }
    </section>`;
  }

  /** @param {View} view @param {Explanation} cell */
  #cell(view, cell) {
    const { t } = view;
    const pinned =
      view.pin !== null &&
      view.pin.step === view.index &&
      cellKey(view.pin.space, view.pin.at) === cellKey(cell.space, cell.at);
    const fate = fateWords(view, cell.space, cell.at);
    const note = noteOf(view, cell);
    const pin = pinned ? null : { space: cell.space, at: cell.at, step: view.index };
    return html`<section class="cell" data-inspected=${cellKey(cell.space, cell.at)}>
      <div class="gist"
        @click=${(/** @type {Event} */ event) => this.#tapped(event)}>${title(view, cell)}${value(view, cell)}
      ${cell.state ? state(view, cell.state) : nothing}
      ${note ? html`<p class="note" data-note>${note}</p>` : nothing}
      ${fate ? html`<p class="note" data-fate>${fate}</p>` : nothing}</div>
      ${cell.formula.length > 0 ? formula(view, cell) : nothing}
      <p class="actions">${cellButton(view, pin, t(pinned ? 'inspector.unpin' : 'inspector.pin'), 'btn')}
        <button type="button" class="btn" data-more aria-expanded=${this.hasAttribute('data-open') ? 'true' : 'false'}
          @click=${() => this.#toggle()}>${this.hasAttribute('data-open') ? t('inspector.less') : t('inspector.all')}</button>
        ${
          hasOrdering(view, cell)
            ? html`<button type="button" class="btn" data-control title=${t('inspector.control.what')}
          aria-pressed=${view.control ? 'true' : 'false'}
          @click=${() => say(this, 'control')}>${t('inspector.control')}</button>`
            : nothing
        }</p>
      ${walk(view, cell)}
      <div class="rest">${bytes(view, cell)}${uses(view, cell)}${code(view, cell)}</div>
    </section>`;
  }

  /** On a phone the sheet is one line, all of which opens it. @param {Event} event */
  #tapped({ target }) {
    if (innerWidth <= 700 && !this.hasAttribute('data-open') && !(/** @type {Element} */ (target).closest('button')))
      this.#toggle();
  }

  /** On a narrow page the column is a sheet that shows the gist until it is opened. */
  #toggle() {
    this.toggleAttribute('data-open');
    if (this.#view) this.view = this.#view;
  }
}

/** The tensor, the indices of the cell, whose name it is. @param {View} view @param {Explanation} cell */
function title(view, { space, at, def }) {
  const { t } = view;
  const name = termButton(space, named(space), { kind: `name ${accentOf(def.holds)}` });
  const indices = def.dims.map((dim, place) => html`<span class="at">[${dimName(view, dim, at[place])}]</span>`);
  const own = html` <span class="label" data-own title=${t('name.own.what')}>${t('name.own')}</span>`;
  return html`<h2>${name} ${indices}${def.is_own ? own : nothing}</h2>`;
}

/** What the cell holds, and what it held a step ago. @param {View} view @param {Explanation} cell */
function value(view, cell) {
  const { dtype, holds } = cell.def;
  const old = before(view.schema, view.step, view.prev, cell.space, cell.at);
  const was =
    old === undefined || isNull(old)
      ? nothing
      : html` <span class="old">${view.t('cell.before', { value: valueText(view, dtype, old, cell.space) })}</span>`;
  return html`<p class="big" data-value><span
    class=${accentOf(holds)}>${valueText(view, dtype, cell.value, cell.space, cell.state)}</span>${was}</p>`;
}

/** @param {View} view @param {string} state */
function state(view, state) {
  const words = stateWords(view, state);
  const term = STATE_TERMS[state];
  return html`<p class="state" data-state=${state}>${term ? termButton(term, words) : words}</p>`;
}

/** @param {View} view @param {Explanation} cell */
function hasOrdering(view, cell) {
  const flat = view.step.space(cell.space)?.find(cell.at) ?? -1;
  return flat >= 0 && view.links.base.has(cell.space) && view.links.ordering(cell.space, flat).size > 0;
}

/**
 * A button that pins the slot of a request's first token that has one.
 * @param {View} view
 * @param {string} reqId
 * @param {number} row
 */
function follow(view, reqId, row) {
  const { t, step, group } = view;
  const starts = step.space('query_start_loc');
  const [start, end] = [Number(starts?.get([row])), Number(starts?.get([row + 1]))];
  const slotOf = (/** @type {number} */ token) => Number(step.space('slot_mappings')?.get([group, token]));
  let token = start;
  while (token < end && !(slotOf(token) >= 0)) token += 1;
  const found = token < end;
  const words = found ? t('inspector.to_slot', { slot: String(slotOf(token)) }) : t('inspector.no_slot');
  return cellButton(
    view,
    { space: 'slot_mappings', at: [group, found ? token : start], step: step.index },
    html`${requestTag(view, reqId)} ${words}`,
    'follow-button',
  );
}

/** The sentence that says what a cell is, '' where there is none. @param {View} view @param {Explanation} cell */
export function noteOf(view, cell) {
  return cell.note ? view.t(`note.${cell.note}`, words(view, cell)) : '';
}

/** Sentences name the request and print whole numbers. @param {View} view @param {Explanation} cell */
function words(view, cell) {
  const names = view.constants.group_names ?? [];
  const group = Number(cell.params.group ?? 0);
  // Ids and indices are names, printed as they are; only counts get separators.
  const params = Object.fromEntries(
    Object.entries(cell.params).map(([name, value]) => [
      name,
      name === 'value' && cell.def.kind === 'count' ? value : String(value),
    ]),
  );
  if (isNull(cell.value)) params.value = '?';
  return { ...params, group: names[group] ?? group, block_size: view.constants.block_size?.[group] };
}

/**
 * A button that pins a cell; with null it unpins.
 * @param {View} view
 * @param {import('../../core/trace/formula.js').CellRef | null} ref
 * @param {unknown} content
 * @param {string} kind
 * @param {string} [label] name for a screen reader
 * @param {string} [under] what the number is, printed under it
 */
function cellButton(view, ref, content, kind, label, under) {
  const go = (/** @type {Event} */ { currentTarget }) => {
    if (!currentTarget) return;
    if (ref) say(currentTarget, 'pin', ref);
    else say(currentTarget, 'unpin');
  };
  const breakable = under?.replaceAll('_', '_\u200b');
  return html`<button type="button" class=${kind} data-ref=${ref ? cellKey(ref.space, ref.at) : nothing}
    data-ref-step=${ref && ref.step !== view.index ? ref.step : nothing} aria-label=${label ?? nothing}
    data-under=${breakable ?? nothing} @click=${go}>${content}</button>`;
}

/** @param {View} view @param {Piece} piece */
function printed(view, piece) {
  if (piece.kind === 'operator') return html`<span class="op">${piece.text}</span>`;
  const name = piece.label ?? '';
  const short = name.replace(/\[.*$/, '');
  const accent = accentOf(view.schema.def(short)?.holds ?? view.schema.axisOf(short));
  const there =
    piece.ref && piece.ref.step !== view.index ? view.t('formula.step', { name: short, step: piece.ref.step }) : short;
  const text =
    view.schema.isCount(short) && typeof piece.value === 'number' && piece.text === String(piece.value)
      ? groupDigits(piece.value)
      : piece.text;
  if (piece.kind === 'name') {
    const step = piece.ref && piece.ref.step !== view.index ? view.t('step.now', { step: piece.ref.step }) : undefined;
    const content = html`<span class="fv">${named(piece.text)}</span>`;
    return piece.ref
      ? cellButton(view, piece.ref, content, `ref name ${accent}`, `${name} = ${show(piece.value)}`, step)
      : html`<span class="part ${accent}" title=${name}>${named(piece.text)}</span>`;
  }
  if (piece.ref)
    return cellButton(
      view,
      piece.ref,
      html`<span class="fv">${text}</span>`,
      `ref ${accent}`,
      `${name} = ${piece.text}`,
      there,
    );
  return html`<span class="part ${accent}"
    data-under=${piece.kind === 'cell' ? nothing : there.replaceAll('_', '_\u200b') || nothing}
    title=${name || nothing}>${text}</span>`;
}

/** @param {View} view @param {Explanation} cell @param {boolean} [concealed] the result is not told yet */
export function formula(view, cell, concealed = false) {
  const alone = cell.formula.length === 1;
  const value = valueText(view, cell.def.dtype, cell.value, cell.space);
  const same = alone && formulaText(cell.formula) === value;
  const result = concealed ? '?' : value;
  if (same && concealed) return html`<p class="formula" data-formula><span class="equals">?</span></p>`;
  return html`<p class="formula"
    data-formula>${cell.formula.map((piece) => printed(view, piece))}${
      same
        ? nothing
        : html`<span class="result"><span
    class="op"> = </span><span class="equals">${result}</span></span>`
    }</p>`;
}

/** @param {View} view @param {Explanation} cell */
function walk(view, cell) {
  const { t } = view;
  if (cell.walk.length === 0) return nothing;
  return html`<h3 class="walk-title">${termButton('walk', t('inspector.walk'))}</h3>
    <ol class="walk" data-walk>${cell.walk.map((one) => {
      const value =
        one.name === 'req_id'
          ? requestTag(view, String(one.value))
          : html`<b
            class=${accentOf(one.name)}>${one.name === 'byte_offset' ? groupDigits(Number(one.value)) : one.value}</b>`;
      const how = one.how.filter((piece) => piece.ref);
      const isDirect = how.length === 1 && one.how.length === 1;
      const from = isDirect ? html` ${cellButton(view, how[0].ref ?? null, how[0].label, 'via')}` : nothing;
      return html`<li data-coordinate=${one.name} data-coordinate-value=${one.value}><span
        class="k">${termButton(one.name, t(`walk.${one.name}`), { tab: false })}</span> ${value}${from}</li>`;
    })}</ol>`;
}

/** @param {View} view @param {Explanation} cell */
function bytes(view, cell) {
  const { t, constants } = view;
  const offset = cell.params.byte_offset;
  const slot = cell.params.slot_id;
  if (offset === undefined || slot === undefined || isNull(offset)) return nothing;
  const group = Number(cell.params.group ?? 0);
  const { num_kv_heads: heads, head_size, itemsize } = constants;
  const into = t('inspector.bytes.into', { heads, head_size, itemsize, bytes: ofGroup(constants.bytes_per_slot, group) });
  return html`<h3>${termButton('slot-bytes', t('inspector.bytes'))}</h3><p class="bytes"><span class="num"
    data-bytes>${groupDigits(Number(offset))}</span> ${into}
    ${Number(offset) >= INT32 ? html`<span class="beyond">${t('inspector.bytes.beyond')}</span>` : nothing}</p>`;
}

/** A cell by its name. @param {View} view @param {string} space @param {number[]} at */
function viaCell(view, space, at) {
  return cellButton(view, { space, at, step: view.step.index }, `${space}[${at.join(', ')}]`, 'via');
}

/** The cells computed from this one. @param {View} view @param {Explanation} cell */
function uses(view, cell) {
  const { t, links } = view;
  const flat = view.step.space(cell.space)?.find(cell.at) ?? -1;
  const outputs = flat < 0 ? [] : links.outputs(cell.space, flat);
  if (outputs.length === 0) return nothing;
  const shown = Array.from({ length: Math.min(outputs.length, MOST_USES) }, (_, place) => links.cellOf(outputs[place]));
  return html`<h3>${t('inspector.used_by')}</h3><ul class="uses">${shown.map(({ space, cell: found }) => {
    const at = space.at(found);
    const value = valueText(view, space.dtype, space.value(found), space.name);
    return html`<li>${viaCell(view, space.name, at)} <span class="num">${value}</span></li>`;
  })}${
    outputs.length > shown.length
      ? html`<li
    class="more">${t('inspector.more', { n: outputs.length - shown.length })}</li>`
      : nothing
  }</ul>`;
}

/** @param {View} view @param {Explanation} cell */
function code(view, cell) {
  const { source } = cell;
  const { vllm, exactness } = cell.def;
  const { t } = view;
  return html`<h3>${t('inspector.code')} <span class="label" data-exactness=${exactness}
    title=${t(`exactness.${exactness}.what`)}>${t(`exactness.${exactness}`)}</span></h3>
    ${source ? lines(view, source) : nothing}
    ${
      vllm
        ? html`<p
      class="file">${t('inspector.vllm')} · ${vllm.file.replace(/^vllm\/v1\//, '')} · <code>${vllm.symbol}</code></p>`
        : nothing
    }`;
}

/**
 * The lines that computed it, and where they stand.
 * @param {View} view
 * @param {import('../../core/trace/schema.js').Source} source
 */
function lines({ t }, source) {
  const marked = new Set(source.mark);
  const excerpt = around(source);
  const indent = Math.min(...excerpt.filter((line) => line >= 0).map((line) => source.lines[line].search(/\S/)));
  const line = (/** @type {number} */ place) => {
    if (place < 0) return '⋮\n';
    const text = source.lines[place].slice(indent);
    return marked.has(place) ? html`<mark>${text}</mark>\n` : html`${text}\n`;
  };
  const number = source.first_line + (source.mark[0] ?? 0);
  return html`<pre tabindex="0" aria-label=${t('inspector.code')}><code>${excerpt.map(line)}</code></pre><p
    class="file">${source.file}:${number} · ${source.symbol}</p>`;
}

/** A constant that is one number, or one for each group. @param {any} constant @param {number} group */
function ofGroup(constant, group) {
  return Array.isArray(constant) ? constant[group] : constant;
}

/**
 * The marked lines and one around each, -1 where lines are left out.
 * @param {import('../../core/trace/schema.js').Source} source
 */
function around(source) {
  const wanted = new Set(source.mark.flatMap((line) => [line - 1, line, line + 1]));
  const lines = [...wanted]
    .filter((line) => line >= 0 && line < source.lines.length && source.lines[line].trim() !== '')
    .sort((a, b) => a - b);
  return lines.flatMap((line, place) =>
    place > 0 && line > lines[place - 1] + 1 && !onlyBlank(source, lines[place - 1] + 1, line) ? [-1, line] : [line],
  );
}

/** @param {import('../../core/trace/schema.js').Source} source @param {number} from @param {number} to */
function onlyBlank(source, from, to) {
  return source.lines.slice(from, to).every((line) => line.trim() === '');
}

/** @param {View} view @param {Explanation | null} cell */
function checks(view, cell) {
  const { t, step } = view;
  const cellsOf = (/** @type {import('../../core/trace/trace.js').Check} */ { cells }) =>
    cells.slice(0, 4).map(({ space, at }) => html` ${viaCell(view, space, at)}`);
  const all = step.json.checks;
  if (all.length === 0) return nothing;
  const violated = all.filter((check) => !check.holds);
  const concerns = (/** @type {import('../../core/trace/trace.js').Check} */ check) =>
    cell !== null && check.cells.some(({ space, at }) => cellKey(space, at) === cellKey(cell.space, cell.at));
  return html`<section class="checks">
    <details ?open=${violated.length > 0}>
      <summary data-checks=${violated.length > 0 ? 'violated' : 'hold'}>${
        violated.length > 0
          ? html`<span
        class="bad">✕</span> ${t('checks.violated', { n: violated.length })}`
          : html`<span
        class="ok">✓</span> ${t('checks.hold', { n: all.length })}`
      }</summary>
      <ul>${[...violated, ...all.filter((check) => check.holds)].map(
        (check) => html`<li data-check=${check.name}
        data-holds=${check.holds ? 'true' : 'false'} class=${concerns(check) ? 'concerns' : ''}><span
        class=${check.holds ? 'ok' : 'bad'}>${check.holds ? '✓' : '✕'}</span> ${check.message}${cellsOf(check)}</li>`,
      )}</ul>
    </details>
  </section>`;
}

customElements.define('pw-inspector', Inspector);
