// @ts-check
/** What the elements draw, read off the workbench: a `View`, what is lit, and the address. */
import { formatAddress, parseAddress } from '../../core/address/address.js';
import { explain } from '../../core/trace/explain.js';
import { identities } from '../../core/identity.js';
import { cellKey } from '../../core/trace/trace.js';

/** @typedef {import('./workbench.js').Workbench} Workbench */

/** Made once for a list of requests. @type {WeakMap<object, ReturnType<typeof identities>>} */
const known = new WeakMap();

/** @param {{req_id: string}[]} requests */
function identitiesOf(requests) {
  let found = known.get(requests);
  if (!found) known.set(requests, (found = identities(requests)));
  return found;
}

/**
 * @param {Workbench} bench
 * @returns {import('../../ui/view.js').View}
 */
export function viewOf(bench) {
  const { trace, index } = bench;
  return {
    t: bench.t,
    lang: bench.lang,
    schema: bench.schema,
    constants: trace.constants,
    identities: identitiesOf(bench.draft.requests),
    draft: bench.draft,
    summary: trace.summary,
    step: trace.step(index),
    prev: trace.steps.get(index - 1) ?? null,
    links: trace.links(index),
    numSteps: trace.numSteps,
    hasBoard: trace.isLoaded,
    range: { first: bench.course.clip(0, trace), last: bench.course.clip(Infinity, trace) },
    mode: bench.mode,
    index,
    stage: bench.stage,
    pin: bench.pinned(),
    look: bench.look(),
    group: bench.group,
    control: bench.control,
    faults: bench.faults,
    notices: bench.notices,
    stopped: trace.stopped,
    isStale: bench.isStale,
    busy: bench.busy,
    isEdited: bench.origin.kind === 'draft',
    isNothing: bench.origin.kind === 'nothing',
    isKept: bench.isKept,
    canUndo: bench.undo.past.length > 0,
    canRedo: bench.undo.future.length > 0,
  };
}

/**
 * What was lit last.
 * @typedef {{links: import('../../core/trace/links.js').Links, lit: Uint8Array | null, coordinates: Record<string, any>}}
 *   Light
 * @type {WeakMap<import('../../core/trace/links.js').Links, {key: string, light: Light}>}
 */
const lights = new WeakMap();

/**
 * What is lit now: strengths by cell, and the coordinates that go with them.
 * @param {Workbench} bench
 * @returns {Light}
 */
export function lightOf(bench) {
  const look = bench.look();
  const links = bench.trace.links(bench.index);
  const flat = look ? (links.step.space(look.space)?.find(look.at) ?? -1) : -1;
  if (!look || flat < 0) return { links, lit: null, coordinates: {} };
  const key = `${cellKey(look.space, look.at)} ${bench.control} ${bench.group}`;
  const last = lights.get(links);
  if (last?.key === key) return last.light;
  const cell = explain(links, look.space, look.at, { group: bench.group });
  const light = { links, lit: links.light(look.space, flat, bench.control), coordinates: cell?.params ?? {} };
  lights.set(links, { key, light });
  return light;
}

/** What of the address is a whole scenario fits into the address lines of browsers and proxies up to here. */
const LONGEST = 8_000;

/**
 * The query string that describes what is on screen. A draft is named and held as well, as soon as its link is made, so
 * that the address opens elsewhere too.
 * @param {Workbench} bench
 */
export function addressOf(bench) {
  const { origin } = bench;
  if (origin.kind === 'nothing') return location.search; // it may be looked at and repaired there
  const { rest, lang } = parseAddress(location.search);
  const pin = bench.pinned();
  const link = origin.kind === 'example' || origin.kind === 'short' ? '' : (bench.link ?? '');
  return formatAddress({
    s: link.length <= LONGEST || origin.kind === 'link' ? link : null,
    example: origin.kind === 'example' ? origin.name : null,
    draft: origin.kind === 'draft' ? origin.name : null,
    step: bench.index,
    stage: bench.stage,
    pin: pin ? cellKey(pin.space, pin.at) : null,
    view: bench.mode === 'board' ? null : bench.mode,
    lang: lang === bench.lang ? lang : null,
    rest,
  });
}
