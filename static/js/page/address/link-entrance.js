// @ts-check
/**
 * A scenario that comes in a link, and what is to be said of one that cannot be read.
 *
 * A link shows what it holds. The draft that an address names beside it goes on only where it is the same scenario; so
 * an address from the bar opens on any machine, and on its own one the reader is where they were.
 */
import { canonical } from '../../core/scenario/compact.js';
import { decodeLink, plainLink } from '../../core/address/link.js';
import * as drafts from '../state/drafts.js';

/** @typedef {import('../../core/address/address.js').Address} Address */
/** @typedef {import('../state/opening.js').Found} Found */
/** @typedef {import('../state/workbench.js').Workbench} Workbench */

/** Throws LinkError. @param {Workbench} bench @param {Address} address @returns {Promise<Found>} */
export async function findLink({ t, format }, address) {
  const text = address.s ?? '';
  const scenario = await decodeLink(text);
  const kept = address.draft === null ? null : drafts.draft(address.draft);
  if (kept && canonical(format, kept.scenario) === canonical(format, scenario))
    return { scenario: kept.scenario, origin: { kind: 'draft', name: kept.id }, place: address };
  /** @type {import('../state/opening.js').Notice[]} */
  const notices = kept ? [{ kind: 'differs', draft: kept.id, message: t('notice.link.differs') }] : [];
  return { scenario, origin: { kind: 'link', name: plainLink(text) }, place: address, notices };
}

/**
 * In place of a link that cannot be read: the draft of it, if this browser has one; else nothing, and least of all
 * something else.
 * @param {Workbench} bench @param {Address} address @param {import('../../core/address/link.js').LinkError} error @returns
 *   {Found}
 */
export function brokenLink({ t }, address, { kind, params }) {
  const message = t(`fault.link.${kind}`, params);
  const own = address.draft === null ? null : drafts.draft(address.draft);
  if (own)
    return {
      scenario: own.scenario,
      origin: { kind: 'draft', name: own.id },
      place: address,
      notices: [{ kind: 'link_draft', message: `${message} ${t('notice.link.own_draft')}` }],
    };
  const kept = [
    ...(address.step === null ? [] : [t('notice.link.kept.step', { step: address.step })]),
    ...(address.stage === null ? [] : [t('notice.link.kept.stage', { stage: t(`stage.${address.stage}`) })]),
    ...(address.pin === null ? [] : [t('notice.link.kept.pin', { pin: address.pin })]),
  ].join(t('list.separator'));
  const [last] = drafts.drafts();
  const other = last ? { id: last.id, title: last.title || t('scenario.untitled') } : null;
  return {
    scenario: { version: 1, requests: [], steps: [] },
    origin: { kind: 'nothing', name: '' },
    place: { stage: address.stage },
    notices: [{ kind: 'link', message, kept, other }],
  };
}
