// @ts-check
/**
 * What every element of the page is given to draw, and how it answers: it draws a `View` and speaks in events.
 * No element keeps state of the scenario, and none fetches. What they say is in `messages.js`.
 */

/** @typedef {import('../core/trace/formula.js').CellRef} CellRef */
/** @typedef {import('./messages.js').Messages} Messages */
/**
 * Something that cannot be: `of` is the scenario that it was found in, `fix` a patch of that.
 * @typedef {{where: string, code: string, message: string, params?: Record<string, any>, fix?: any[] | null, of?:
 *   import('../core/scenario/edits.js').Scenario}} Fault
 */
/**
 * @typedef {object} Notice  something that the page says about itself
 * @property {string} kind
 * @property {string} message
 * @property {boolean} [again]  there is something to try again
 * @property {string} [draft]  a draft that can be opened instead
 * @property {string} [kept]  of a link that cannot be opened: what of its address could be read
 * @property {{id: string, title: string} | null} [other]  of the same: a draft that could be opened
 */
/**
 * @typedef {object} View
 * @property {import('../core/i18n.js').Translate} t
 * @property {string} lang
 * @property {import('../core/trace/schema.js').Schema} schema
 * @property {Record<string, any>} constants
 * @property {Map<string, import('../core/identity.js').Identity>} identities
 * @property {import('../core/scenario/edits.js').Scenario} draft  what the grid shows, valid or not
 * @property {Record<string, any>[]} summary
 * @property {import('../core/trace/trace.js').Step} step
 * @property {import('../core/trace/trace.js').Step | null} prev
 * @property {import('../core/trace/links.js').Links} links
 * @property {number} numSteps
 * @property {boolean} hasBoard  false while no schedule could be run at all
 * @property {import('../core/trace/stop-points.js').Range} range  the steps that one may go to: all, or those that an
 *   embedded page keeps to
 * @property {'board' | 'present' | 'embed'} mode  how the page is shown
 * @property {number} index  the step on screen
 * @property {string} stage  one of the stages, or `all`
 * @property {CellRef | null} pin
 * @property {CellRef | null} look  the cell looked at: hovered, focused or pinned
 * @property {number} group  the KV-cache group that a cell without groups is read in
 * @property {boolean} control  ordering and control are lit as well
 * @property {readonly Fault[]} faults  why the draft could not be computed
 * @property {readonly Notice[]} notices
 * @property {boolean} isStale  the board is not of the schedule in the grid: that cannot be run, or is not there yet
 * @property {{step: number, code: string, message: string, needed?: number, free?: number} | null} stopped
 * @property {boolean} busy
 * @property {boolean} isEdited  a draft of the reader's
 * @property {boolean} isNothing  in place of a scenario that could not be read
 * @property {boolean} isKept  whether this browser keeps drafts
 * @property {boolean} canUndo
 * @property {boolean} canRedo
 */

/**
 * Says something to the page, from an element of it.
 * @type {<Kind extends keyof Messages>(from: EventTarget, kind: Kind, ...detail: import('./messages.js').Said<Kind>) => void}
 */
export const say = (from, kind, ...[detail]) => {
  from.dispatchEvent(new CustomEvent(`pw-${kind}`, { bubbles: true, detail }));
};

/**
 * Hears every kind of a group of messages.
 * @template {keyof Messages} Kind
 * @param {EventTarget} at  where they arrive
 * @param {{[One in Kind]: (detail: Messages[One], event: Event) => unknown}} handlers
 */
export function hear(at, handlers) {
  for (const kind of /** @type {Kind[]} */ (Object.keys(handlers)))
    at.addEventListener(`pw-${kind}`, (event) => handlers[kind](/** @type {CustomEvent} */ (event).detail, event));
}
