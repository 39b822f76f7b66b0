// @ts-check
/** What this browser keeps, in the dialog of scenarios: the reader's own, what was opened lately, what can be had back. */
import { html, nothing } from '../../../vendor/lit-html/lit-html.js';
import { ago, exactly } from '../../core/ago.js';
import { formatAddress } from '../../core/address/address.js';
import { toDraft } from '../../core/scenario/edits.js';
import { namesOf, sizeOf, sketchOf } from '../../core/gallery.js';
import { factsOf, openNow } from './examples.js';
import { sketch } from './sketch.js';
import { MOST_TITLE } from '../../core/scenario/limits.js';
import { shows } from '../field.js';
import { say } from '../view.js';

/** @typedef {import('./gallery.js').Gallery} Gallery */
/** @typedef {import('./gallery.js').Shelf} Shelf */
/** @typedef {import('../../page/state/drafts.js').Draft} Draft */
/** @typedef {import('../../page/state/recents.js').Recent} Recent */
/** @typedef {{drafts: Draft[], recents: Recent[], deleted: Draft[]}} Found */

/**
 * @param {Gallery} gallery
 * @param {Shelf} shelf
 * @param {Found} found
 * @param {boolean} isSearch only what was found is shown then
 */
export function ownSections(gallery, shelf, { drafts, recents, deleted }, isSearch) {
  const { t, most, storage } = shelf;
  const kept = shelf.drafts.length;
  const last = shelf.drafts[most - 1];
  return html`
    ${
      isSearch && drafts.length === 0
        ? nothing
        : html`<section aria-labelledby="gallery-drafts"><h3 id="gallery-drafts" tabindex="-1">${t('own.title')}</h3>
          ${storage ? html`<p class="notice warn" data-own-storage>${storage}</p>` : nothing}
          ${
            isSearch || (storage && kept === 0)
              ? nothing
              : html`<p
            class="about">${kept === 0 ? t('own.none') : last ? t('own.full', { n: kept, title: nameOf(shelf, last) }) : t('own.kept', { n: kept, most })}</p>`
          }
          <ul
            class="cards">${drafts.map((one) =>
              shelf.drafts.some(({ id }) => id === one.id) ? draftCard(gallery, shelf, one) : goneCard(gallery, shelf, one),
            )}</ul></section>`
    }
    ${
      isSearch && recents.length === 0
        ? nothing
        : html`<section aria-labelledby="gallery-recents"><h3 id="gallery-recents" tabindex="-1">${t('own.recent')}</h3>
          ${
            recents.length === 0
              ? html`<p class="about">${t('own.recent.none')}</p>`
              : html`<ul
            class="lines">${recents.map((one) => recentLine(shelf, one))}</ul>`
          }
          ${
            recents.length > 1 && !isSearch
              ? html`<p><button type="button" class="btn main" data-forget-all
            @click=${() => say(gallery, 'forget', { search: null })}>${t('own.forget_all')}</button></p>`
              : nothing
          }</section>`
    }
    ${
      deleted.length === 0 || isSearch
        ? nothing
        : html`<section aria-labelledby="gallery-deleted"><h3 id="gallery-deleted" tabindex="-1">${t('own.deleted')}</h3><p
          class="about">${t('own.deleted.what')}</p><ul
          class="lines">${deleted.map((one) => goneCard(gallery, shelf, one))}</ul></section>`
    }`;
}

/** @param {Gallery} gallery @param {Shelf} shelf @param {Draft} draft */
function draftCard(gallery, shelf, draft) {
  const { t, open, lang, now } = shelf;
  const { id, changed, saved } = draft;
  const scenario = toDraft(draft.scenario);
  const isOpen = open.kind === 'draft' && open.name === id;
  const name = nameOf(shelf, draft);
  const rename = () => {
    gallery.naming = id;
    gallery.redraw('[data-rename]');
  };
  const duplicate = () => say(gallery, 'draft', { kind: 'duplicate', id, title: t('own.copy', { title: name }) });
  const remove = () => say(gallery, 'draft', { kind: 'delete', id });
  const act = (/** @type {string} */ kind, /** @type {() => unknown} */ run) =>
    html`<button type="button" class="btn" data-act=${kind} aria-label=${t(`own.${kind}.of`, { title: name })}
      @click=${run}>${t(`own.${kind}`)}</button>`;
  return html`<li class="card own" data-draft=${id}>
    ${sketch(sketchOf(scenario))}
    <div>
      ${
        gallery.naming === id
          ? renaming(gallery, shelf, draft)
          : html`<h4><a data-entry href=${formatAddress({ draft: id })}
            aria-current=${isOpen ? 'true' : nothing}>${name}</a>${isOpen ? openNow(t) : nothing}</h4>`
      }
      <p class="facts">${factsOf(t, sizeOf(scenario))} · ${t('own.changed')} ${when(changed ?? saved, now, lang)}</p>
      <p class="acts">${act('rename', rename)}${act('duplicate', duplicate)}${act('delete', remove)}</p>
    </div>
  </li>`;
}

/** @param {Gallery} gallery @param {Shelf} shelf @param {Draft} draft */
function renaming(gallery, { t }, { id, title }) {
  const done = (/** @type {string | null} */ text) => {
    if (gallery.naming !== id) return; // the field was left because it went
    gallery.naming = '';
    if (text === null || text.trim() === title) gallery.redraw(`[data-draft="${CSS.escape(id)}"] [data-act=rename]`);
    else say(gallery, 'draft', { kind: 'rename', id, title: text.trim() });
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing || !['Enter', 'Escape'].includes(event.key)) return;
    event.preventDefault(); // the dialog stays
    event.stopPropagation();
    done(event.key === 'Enter' ? /** @type {HTMLInputElement} */ (event.target).value : null);
  };
  return html`<input class="name" data-rename type="text" maxlength=${MOST_TITLE} autocomplete="off"
    aria-label=${t('own.name')} placeholder=${t('scenario.untitled')} ${shows(title, id)} @keydown=${key}
    @change=${(/** @type {Event} */ event) => done(/** @type {HTMLInputElement} */ (event.target).value)}
    @blur=${() => done(null)}>`;
}

/** @param {Gallery} gallery @param {Shelf} shelf @param {Draft} draft */
function goneCard(gallery, shelf, draft) {
  const { t, open } = shelf;
  const isOpen = open.kind === 'draft' && open.name === draft.id;
  const pushed = 'pushed' in draft && draft.pushed;
  return html`<li class="gone" data-gone=${draft.id}>
    <p>${t(pushed ? 'own.made_room' : 'own.is_deleted', { title: nameOf(shelf, draft) })}${isOpen ? html` ${t('own.is_deleted.open')}` : nothing}</p>
    <button type="button" class="btn main" data-act="restore"
      @click=${() => say(gallery, 'draft', { kind: 'restore', id: draft.id })}>${t(gallery.gone.has(draft.id) ? 'own.undo' : 'own.restore')}</button>
  </li>`;
}

/** @param {Shelf} shelf @param {Recent} recent */
function recentLine({ t, lang, now, examples }, { search, title, opened }) {
  const example = new URLSearchParams(search).get('example');
  const name = examples?.find((one) => one.name === example)?.title ?? (title || t('scenario.untitled'));
  const forget = (/** @type {Event} */ event) => say(/** @type {HTMLElement} */ (event.currentTarget), 'forget', { search });
  return html`<li data-recent=${search}>
    <a data-entry href=${search}>${name}</a>
    <span class="facts">${t(example ? 'own.from.example' : 'own.from.link')} · ${when(opened, now, lang)}</span>
    <button type="button" class="btn" data-act="forget" aria-label=${t('own.forget.of', { title: name })}
      @click=${forget}>${t('own.forget')}</button>
  </li>`;
}

/** @param {Shelf} shelf @param {Draft} draft */
export function nameOf({ t }, { title, scenario }) {
  return (
    title ||
    (scenario.requests.length > 0
      ? t('own.untitled', { names: namesOf(scenario, t('list.separator')), n: scenario.steps.length })
      : t('scenario.untitled'))
  );
}

/** @param {number} then @param {number} now @param {string} lang */
function when(then, now, lang) {
  const text = exactly(then, lang);
  return text
    ? html`<time datetime=${new Date(then).toISOString()} title=${text}>${ago(then, now, lang)} <span
      class="exactly">(${text})</span></time>`
    : '';
}
