// @ts-check
/**
 * The sizes of the engine, as a form beside the board: every field with what it is, its default and its bounds, and what
 * is wrong with its value where it stands. It says an edit for each value.
 */
import { html, nothing, render } from '../../../vendor/lit-html/lit-html.js';
import {
  addGroup,
  groupsOf,
  isAt,
  isChanged,
  isConfigChanged,
  mostGroups,
  removeGroup,
  resetConfig,
  sections,
  setField,
  shownValue,
  typedValue,
  valueOf,
} from '../../core/scenario/config-fields.js';
import { groupDigits } from '../../core/i18n.js';
import { isTyped, restore, shows, take } from '../field.js';
import { repairs } from '../schedule/faults.js';
import { named } from '../names.js';
import { say } from '../view.js';

/** @typedef {import('../view.js').View} View */
/** @typedef {import('../view.js').Fault} Fault */
/** @typedef {import('../../core/scenario/config-fields.js').Field} Field */
/** @typedef {import('../../core/scenario/config-fields.js').Section} Section */

export class ConfigForm extends HTMLElement {
  /** @type {View | null} */
  #view = null;
  /** The format, as the server describes it. @type {import('../../core/scenario/config-fields.js').Schema} */
  schema = {};
  /** Typed, and nothing that a draft could be kept with. @type {{id: string, text: string, draft: unknown} | null} */
  #odd = null;

  connectedCallback() {
    this.addEventListener('change', (event) => this.#changed(/** @type {HTMLInputElement} */ (event.target)));
    this.addEventListener('keydown', (event) => this.#key(event));
  }

  /** @param {View} view */
  set view(view) {
    this.#view = view;
    if (this.#odd?.draft !== view.draft) this.#odd = null;
    if (!this.hidden) this.#draw();
  }

  focusTitle() {
    /** @type {HTMLElement | null} */ (this.querySelector('h2'))?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.type === 'text')
      event.target.dispatchEvent(new Event('change', { bubbles: true }));
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    const input = event.target;
    if (isTyped(input)) restore(/** @type {HTMLInputElement} */ (input));
    else say(this, 'config-close');
  }

  /** @param {HTMLInputElement} input */
  #changed(input) {
    const field = this.#fields().find(({ path }) => pathId(path) === input.id);
    if (!field) return;
    if (input.type === 'checkbox') this.#set(field, input.checked);
    else if (input instanceof HTMLSelectElement) this.#set(field, typedValue(field, input.value));
    else take(input, (text) => this.#typed(input.id, field, typedValue(field, text)));
  }

  /** @param {string} id @param {Field} field @param {any} value */
  #typed(id, field, value) {
    // A scenario without a first step has nothing to open at: it is said here, and goes no further.
    this.#odd =
      isWord(field) && field.kind === 'integer' && !(Number.isInteger(value) && value >= 0)
        ? { id, text: shownValue(value), draft: this.#view?.draft }
        : null;
    if (this.#odd) this.#draw();
    else this.#set(field, value);
  }

  #fields() {
    if (!this.#view) return [];
    return sections(this.schema, this.#view.draft).flatMap(({ fields, groups }) => [...fields, ...(groups ?? []).flat()]);
  }

  /** @param {Field} field @param {any} value */
  #set(field, value) {
    this.#edit((draft) => setField(this.schema, draft, field, value));
  }

  /**
   * @param {(draft: import('../../core/scenario/edits.js').Scenario) => import('../../core/scenario/edits.js').Scenario}
   *   change
   */
  #edit(change) {
    say(this, 'edit', { kind: 'config', change });
  }

  #draw() {
    const view = this.#view;
    if (!view) return;
    const { t, draft } = view;
    const all = sections(this.schema, draft);
    const close = () => say(this, 'config-close');
    render(
      html`<section class="config" aria-labelledby="config-title">
        <div class="top"><header>
          <h2 id="config-title" tabindex="-1">${t('config.title')}</h2>
          ${
            isConfigChanged(this.schema, draft)
              ? html`<button type="button" class="btn" data-config-reset
            @click=${() => this.#resetAll()}>${t('config.reset_all')}</button>`
              : nothing
          }
          <button type="button" class="btn close" data-close-config aria-label=${t('config.close')}
            title=${t('config.close')} @click=${close}><span aria-hidden="true">×</span></button>
        </header>
        <div class="status" role="status">${this.#elsewhere(view)}</div></div>
        <div class="parts">${all.map((section) => this.#section(view, section))}</div>
      </section>`,
      this,
    );
  }

  #resetAll() {
    this.#edit((draft) => resetConfig(this.schema, draft));
    this.focusTitle(); // the button goes
  }

  /**
   * What is wrong elsewhere than in the field that one is in: what is said there need not be said twice.
   * @param {View} view
   */
  #elsewhere(view) {
    const { t, faults } = view;
    const here = this.#fields().find(({ path }) => pathId(path) === document.activeElement?.id);
    const others = faults.filter((fault) => !here || !isAt(here, fault));
    if (others.length === 0) return nothing;
    // Named blocks no longer match the groups: one thing, however many requests it is said of.
    const lists = others.filter((fault) => fault.params?.num_groups !== undefined && repairs(view, fault));
    const label = lists.length > 0 ? t('config.repair_lists', { n: lists.length }) : repairs(view, others[0]);
    return html`<p class="wrong"><b>${t('config.not_run')}</b> ${others[0].message}${
      others.length > 1
        ? html` <span
      class="more">${t('inspector.more', { n: others.length - 1 })}</span>`
        : nothing
    }
      ${
        label
          ? html`<button type="button" class="btn main" data-config-repair
        @click=${() => this.#repair(lists.length > 0 ? lists : [others[0]])}>${label}</button>`
          : nothing
      }</p>`;
  }

  /** The button goes; the keyboard stays with what it was about. @param {Fault[]} faults @param {string} [id] of the fault */
  #repair(faults, id) {
    say(this, 'edit', { kind: 'fix', faults });
    const field = id && /** @type {HTMLElement | null} */ (this.querySelector(`[id="${id.replace(/-fault-\d+$/, '')}"]`));
    if (field) field.focus();
    else this.focusTitle();
  }

  /** @param {View} view @param {Section} section */
  #section(view, { name, fields, groups }) {
    const { t } = view;
    const about = t(`config.section.${name}.what`);
    return html`<section class="part" data-section=${name} aria-labelledby="config-${name}">
      <h3 id="config-${name}">${t(`config.section.${name}`)}</h3>
      ${about.startsWith('config.') ? nothing : html`<p class="what">${about}</p>`}
      ${fields.map((field) => this.#field(view, field))}
      ${groups ? this.#groups(view, groups) : nothing}
    </section>`;
  }

  /** @param {View} view @param {Field[][]} groups */
  #groups(view, groups) {
    const { t, draft } = view;
    const most = mostGroups(this.schema);
    const whole = view.faults.filter(({ where }) => where === '/config/kv_cache_groups');
    const remove = (/** @type {number} */ index) => {
      this.#edit((before) => removeGroup(this.schema, before, index));
      /** @type {HTMLElement | null} */ (this.querySelector('[data-add-group]'))?.focus();
    };
    const names = groupsOf(this.schema, draft).map((group, index) => String(group?.name ?? index));
    return html`${groups.map(
      (fields, index) => html`<fieldset data-group=${index}><legend>${t('config.group', { index })}
        ${
          groups.length > 1
            ? html`<button type="button" class="btn remove" data-remove-group=${index}
          aria-label=${t('config.remove_group', { name: names[index] })}
          title=${t('config.remove_group', { name: names[index] })} @click=${() => remove(index)}><span
          aria-hidden="true">×</span></button>`
            : nothing
        }</legend>
        ${fields.map((field) => this.#field(view, field))}</fieldset>`,
    )}
      ${whole.map((fault) => this.#fault(view, fault))}
      <button type="button" class="btn add" data-add-group aria-disabled=${groups.length < most ? nothing : 'true'}
        @click=${() => groups.length < most && this.#edit((before) => addGroup(this.schema, before))}>${
          groups.length < most ? t('config.add_group') : t('config.most_groups', { n: most })
        }</button>`;
  }

  /** @param {View} view @param {Field} field */
  #field(view, field) {
    const { t, draft } = view;
    const id = pathId(field.path);
    const odd = this.#odd?.id === id ? this.#odd.text : null;
    const value = odd ?? valueOf(draft, field);
    const wrong =
      odd === null
        ? view.faults.filter((fault) => isAt(field, fault))
        : [{ where: '', code: 'entry', message: t('config.no_step', { text: odd }) }];
    const changed = isChanged(draft, field);
    const about = `${id}-about`;
    const describedBy = [about, ...wrong.map((_, place) => `${id}-fault-${place}`)].join(' ');
    const reset = () => {
      this.#set(field, field.fallback);
      /** @type {HTMLElement | null} */ (this.querySelector(`[id="${id}"]`))?.focus();
    };
    return html`<div class="field" data-field=${field.key} data-kind=${field.kind} ?data-changed=${changed}
      ?data-wrong=${wrong.length > 0}>
      <label for=${id}>${isWord(field) ? t(`config.${field.key}.name`) : named(field.name)}</label>
      ${control(view, field, value, { id, describedBy, isWrong: wrong.length > 0 })}
      <p class="what" id=${about}>${t(`config.${field.key}.what`)} <span class="default">${bounds(view, field)}</span></p>
      ${
        changed && field.path[0] === 'config'
          ? html`<button type="button" class="btn reset" data-reset
        aria-label=${t('config.reset_field', { name: field.name, value: shownDefault(view, field) })}
        title=${t('config.reset_field', { name: field.name, value: shownDefault(view, field) })} @click=${reset}><span
        aria-hidden="true">↺</span></button>`
          : nothing
      }
      ${wrong.map((fault, place) => this.#fault(view, fault, `${id}-fault-${place}`))}
    </div>`;
  }

  /** @param {View} view @param {Fault} fault @param {string} [id] */
  #fault(view, fault, id) {
    const label = repairs(view, fault);
    return html`<p class="fault" id=${id ?? nothing} data-code=${fault.code}>${fault.message}${
      label
        ? html` <button
      type="button" class="btn main" data-config-fix
      @click=${() => this.#repair([fault], id)}>${label}</button>`
        : nothing
    }</p>`;
  }
}

/**
 * @param {View} view
 * @param {Field} field
 * @param {any} value
 * @param {{id: string, describedBy: string, isWrong: boolean}} marks
 */
function control({ t }, field, value, { id, describedBy, isWrong }) {
  const invalid = isWrong ? 'true' : nothing;
  const text = shownValue(value);
  if (field.kind === 'boolean')
    return html`<input type="checkbox" id=${id} ${shows(value === true)} aria-describedby=${describedBy}
      aria-invalid=${invalid}>`;
  if (field.kind === 'choice') {
    const isKnown = field.choices.includes(value);
    return html`<select id=${id} aria-describedby=${describedBy} aria-invalid=${invalid}>${
      isKnown ? nothing : html`<option value=${text} ${shows(true)}>${text}</option>`
    }${field.choices.map(
      (choice) => html`<option value=${choice} ${shows(choice === value)} translate="no">${choice}</option>`,
    )}</select>`;
  }
  if (field.name === 'description')
    return html`<textarea id=${id} rows="3" ${shows(text, id)} aria-describedby=${describedBy}
      aria-invalid=${invalid}></textarea>`;
  const isNumber = field.kind !== 'text';
  return html`<input type="text" class=${isNumber ? 'num' : ''} id=${id}
    inputmode=${field.kind === 'integer' ? 'numeric' : nothing} autocomplete="off" spellcheck="false"
    placeholder=${field.isNullable || field.kind === 'integers' ? t('config.none') : nothing} ${shows(text, id)}
    aria-describedby=${describedBy} aria-invalid=${invalid}>`;
}

/** Fields of the scenario itself are named in words: they are no names of the engine's. @param {Field} field */
function isWord({ path }) {
  return path.length === 1;
}

/** @param {View} view @param {Field} field */
function bounds({ t }, field) {
  const range =
    field.minimum !== null && field.maximum !== null && field.maximum < 2 ** 31 - 1
      ? t('config.range', { low: groupDigits(field.minimum), high: groupDigits(field.maximum) })
      : '';
  if (field.path.length === 1) return '';
  return html`<span class="is">${t('config.default', { value: shownDefault({ t }, field) })}</span>${
    range
      ? html` <span
    class="range">${range}</span>`
      : nothing
  }`;
}

/** @param {{t: import('../../core/i18n.js').Translate}} view @param {Field} field */
function shownDefault({ t }, field) {
  return shownValue(field.fallback) || t('config.none');
}

/** @param {import('../../core/scenario/config-fields.js').Path} path */
function pathId(path) {
  return `field-${path.join('-')}`;
}

customElements.define('pw-config', ConfigForm);
