// @ts-check
/**
 * The line over an embedded board: whose it is, which step, and the way to the full page; under the board, the formula of
 * what is pinned.
 */
import { html, render } from '../../../vendor/lit-html/lit-html.js';
import { formulaBar } from '../board/formula-bar.js';

export class EmbedLine extends HTMLElement {
  /** @param {{view: import('../view.js').View, href: string}} data */
  set data({ view, href }) {
    const { t } = view;
    render(
      html`<div
        class="embed-line"><h1>${view.draft.title || t(view.isNothing ? 'scenario.nothing' : 'scenario.untitled')}</h1><span
        class="step">${t('step.now', { step: view.index })}</span><span class="by" translate="no">PageWalk</span><a
        class="btn" data-full-view href=${href} target="_blank" rel="noopener">${t('embed.full')} <span
        aria-hidden="true">↗</span><span class="vh"> ${t('embed.new_tab')}</span></a></div>
        ${formulaBar(view)}`,
      this,
    );
  }
}

customElements.define('pw-embed-line', EmbedLine);
