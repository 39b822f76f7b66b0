// @ts-check
/** The sheet of keys: opened by its button and by `?`. */
import { html, render } from '../../../vendor/lit-html/lit-html.js';
import { shows } from '../field.js';
import { say } from '../view.js';

/** Keys and what they do; the words are `key.<name>` in the catalogue. */
const KEYS = [
  [['←', '→'], 'stage'],
  [['Shift', '←', '→'], 'step'],
  [['Home', 'End'], 'ends'],
  [['↑', '↓', '←', '→'], 'cells'],
  [['[', ']'], 'element'],
  [['/'], 'find'],
  [['Ctrl', 'K'], 'find'],
  [['G'], 'term'],
  [['Enter'], 'pin'],
  [['Esc'], 'unpin'],
  [['Ctrl', 'Z'], 'undo'],
  [['Ctrl', 'Shift', 'Z'], 'redo'],
  [['?'], 'help'],
];

/** Those of the schedule. */
const SCHEDULE_KEYS = [
  [['number', '0'], 'entry'],
  [['F', 'P'], 'mark'],
  [['Enter', 'Tab'], 'down'],
  [['F2'], 'edit'],
  [['Delete'], 'clear'],
  [['Shift', '↑', '→'], 'select'],
  [['Ctrl', 'C', 'X', 'V'], 'blocks'],
  [['Ctrl', 'Enter'], 'fill'],
  [['Alt', '↓'], 'menu'],
  [['Alt', 'Enter'], 'details'],
  [['Alt', 'Shift', '↑', '→'], 'arrange'],
  [['F8'], 'fault'],
];

/** Those of present mode. */
const TALK_KEYS = [
  [['Page Up', 'Page Down'], 'stop'],
  [['.', 'B'], 'blank'],
  [['R'], 'ask'],
  [['S'], 'spotlight'],
  [['F'], 'full'],
  [['L'], 'language'],
  [['T'], 'theme'],
  [['Esc'], 'leave'],
];

/** What a cell can be besides data, and a sample of each. */
const STATES = [
  ['stale', '44'],
  ['freed', '44'],
  ['unused', '44'],
  ['padding', '-1'],
  ['null', '0'],
  ['unknown', '?'],
  ['not_local', '44'],
];

/** @param {import('../../core/i18n.js').Translate} t @param {(string | string[])[][]} keys */
function keyTable(t, keys) {
  return html`<table><tbody>${keys.map(
    ([names, what]) => html`<tr><th
    scope="row">${
      /** @type {string[]} */ (names).map((key) => html`<kbd>${key === 'number' ? t('key.number') : key}</kbd> `)
    }</th><td>${t(`key.${what}`)}</td></tr>`,
  )}</tbody></table>`;
}

export class HelpSheet extends HTMLElement {
  /** @param {{t: import('../../core/i18n.js').Translate, singleKeys: boolean}} how */
  open({ t, singleKeys }) {
    render(
      html`<dialog aria-labelledby="help-title">
        <h2 id="help-title" tabindex="-1" autofocus>${t('help.title')}</h2>
        ${keyTable(t, KEYS)}
        <h3>${t('help.schedule')}</h3>
        ${keyTable(t, SCHEDULE_KEYS)}
        <h3>${t('help.present')}</h3>
        ${keyTable(t, TALK_KEYS)}
        <label class="switch"><input type="checkbox" ${shows(singleKeys)}
          @change=${(/** @type {{target: HTMLInputElement}} */ { target }) =>
            say(this, 'single-keys', { on: target.checked })}> ${t('help.single_keys')}</label>
        <h3>${t('help.light')}</h3>
        <ul class="light"><li><span class="sample" data-lit="self">12</span> ${t('help.light.self')}</li><li><span
          class="sample" data-lit="input">12</span> ${t('help.light.input')}</li><li><span class="sample"
          data-lit="output">12</span> ${t('help.light.output')}</li><li><span class="sample"
          data-lit="walk">12</span> ${t('help.light.walk')}</li><li><span class="sample"
          data-lit="control">12</span> ${t('help.light.control')}</li></ul>
        <h3>${t('help.states')}</h3>
        <ul
          class="light">${STATES.map(
            ([state, sample]) => html`<li><span class="sample c" data-state=${state}><span class="v">${sample}</span></span>
              <b>${t(`state.${state}`)}</b> ${t(`state.${state}.what`)}</li>`,
          )}</ul>
        <form method="dialog"><button class="btn main">${t('help.close')}</button></form>
      </dialog>`,
      this,
    );
    const dialog = this.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
  }
}

customElements.define('pw-help', HelpSheet);
