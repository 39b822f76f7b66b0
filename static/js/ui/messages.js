// @ts-check
/**
 * Everything that the elements say. Each kind is one property of a group, its value what is said with it; a group has one
 * place that hears it, which names every kind of it. An unknown kind, a kind that nobody hears, and a value that is not as
 * agreed are type errors.
 */

/** @typedef {import('../core/trace/formula.js').CellRef} CellRef */
/** @typedef {import('../core/scenario/selection.js').Rectangle} Rectangle */
/** @typedef {import('../core/scenario/edits.js').Scenario} Scenario */
/** @typedef {import('./view.js').Fault} Fault */

/** @typedef {number | string | null} Entry  what a cell of the schedule holds; null: nothing */
/** @typedef {{step: number, req_id: string}} Cell */
/**
 * Every change of the scenario, as an element says it; `page/state/editing.js` makes them.
 * @typedef {(
 *   | (Cell & {kind: 'entry', value: Entry})
 *   | {kind: 'prompt', request: number, value: Entry}
 *   | {kind: 'paste', at: Rectangle, block: string[][]}
 *   | {kind: 'clear', at: Rectangle}
 *   | {kind: 'fix', faults: Fault[]}
 *   | {kind: 'add-request', step: number}
 *   | {kind: 'remove-request', req_id: string}
 *   | {kind: 'move-request', row: number, by: number}
 *   | {kind: 'duplicate-request', row: number}
 *   | {kind: 'rename', row: number, text: string}
 *   | {kind: 'add-step'}
 *   | {kind: 'remove-step', step: number}
 *   | {kind: 'insert-step', step: number}
 *   | {kind: 'duplicate-step', step: number}
 *   | {kind: 'move-step', step: number, by: number}
 *   | {kind: 'start-step', step: number}
 *   | (Cell & {kind: 'order', by: number})
 *   | {kind: 'order-as-rows', step: number}
 *   | ({kind: 'run', req_ids: string[]} & import('../core/scenario/fill.js').Filling)
 *   | {kind: 'decode-all', from: number, to?: number}
 *   | (Cell & {kind: 'drafts' | 'accepted' | 'sampled' | 'hit', text: string})
 *   | (Cell & {kind: 'blocks', group: number, num_groups: number, given: any[][], text: string})
 *   | {kind: 'prompt-text', row: number, text: string}
 *   | {kind: 'initial', row: number, checked: boolean}
 *   | {kind: 'initial-computed' | 'initial-outputs' | 'initial-row', row: number, text: string}
 *   | {kind: 'initial-blocks', row: number, group: number, num_groups: number, text: string}
 *   | {kind: 'title' | 'description', text: string}
 *   | {kind: 'config', change: (draft: Scenario) => Scenario}
 * )} Edit
 */
/**
 * An edit whose text is still to come from a field. The union stays one: each kind loses its text by itself.
 * @typedef {Edit extends infer One ? One extends {text: string} ? Omit<One, 'text'> : never : never} TextEdit
 */

/**
 * To the page itself.
 * @typedef {object} PageMessages
 * @property {{step?: number, stage?: string}} go
 * @property {{by: 1 | -1}} walk  one stage on or back
 * @property {{by: number}} step  so many steps on or back, from the one wanted last
 * @property {{by: 1 | -1}} element  one element of the stage on or back
 * @property {CellRef} pin
 * @property {undefined} unpin
 * @property {{by: 'hover' | 'focus', cell: CellRef | null}} look
 * @property {undefined} control  lit or not, the other way
 * @property {Edit} edit
 * @property {undefined} undo
 * @property {undefined} redo
 * @property {undefined} revert
 * @property {{kind: string}} retry  what failed, by the notice that says so
 * @property {{kind: string}} dismiss
 * @property {{kind: string, draft?: string}} restore
 * @property {{text: string}} link
 * @property {undefined} new
 * @property {undefined} drawn  another part of a table is drawn; said by its element
 */
/**
 * To the schedule, by what is in it.
 * @typedef {object} ScheduleMessages
 * @property {{row: number}} rename
 * @property {{row?: number, column?: number}} details
 */
/**
 * @typedef {object} TextMessages  from the text view
 * @property {undefined} text-toggle
 * @property {undefined} text-close
 * @property {undefined} text-typed
 * @property {undefined} text-left
 * @property {{notation: import('../core/text/scenario-text.js').Notation}} text-notation
 * @property {{place: number}} text-repair
 * @property {undefined} text-rewrite
 * @property {{file: File}} text-file
 * @property {undefined} text-copy
 * @property {undefined} text-download
 */
/**
 * @typedef {object} ConfigMessages
 * @property {undefined} config-toggle
 * @property {undefined} config-close
 */
/**
 * @typedef {object} ShareMessages
 * @property {{on: boolean}} place  whether a link names it
 * @property {{size: number}} size
 * @property {undefined} shorten
 */
/**
 * @typedef {object} GalleryMessages
 * @property {{search: string}} choose
 * @property {{kind: 'rename' | 'duplicate', id: string, title: string} | {kind: 'delete' | 'restore', id: string}} draft
 * @property {{search: string | null}} forget
 * @property {undefined} list
 */
/**
 * @typedef {object} QuestionMessages
 * @property {{name: string}} put-away
 */
/**
 * @typedef {object} GlossaryMessages
 * @property {{term: string | null}} term  null: of what is looked at
 * @property {{stage: string, space: string | null}} show
 */
/**
 * @typedef {object} FindMessages
 * @property {undefined} gather
 * @property {import('../core/find/find.js').Hit} found
 */
/**
 * @typedef {object} KvMessages  inside the map of the cache
 * @property {{words: string}} kv-words
 * @property {{id: number}} kv-zoom
 * @property {{first: number, last: number, all: boolean}} kv-sight
 */
/**
 * What a talk is led by: on or back to a stop, and switches.
 * @typedef {{name: 'stop', by: 1 | -1} | {name: TalkSwitch}} TalkWish
 */
/**
 * @typedef {'unpin' | 'leave' | 'blank' | 'spotlight' | 'ask' | 'full' | 'language' | 'theme' | 'help'} TalkSwitch
 */
/**
 * @typedef {object} TalkMessages
 * @property {TalkWish} talk
 */
/**
 * @typedef {object} ChartsMessages
 * @property {undefined} charts-close
 */
/**
 * @typedef {object} HelpMessages
 * @property {{on: boolean}} single-keys
 */
/**
 * @typedef {PageMessages & ScheduleMessages & TextMessages & ConfigMessages & ShareMessages & GalleryMessages &
 *   QuestionMessages & GlossaryMessages & FindMessages & KvMessages & TalkMessages & ChartsMessages & HelpMessages} Messages
 */
/**
 * What hears a group: a function for each kind of it.
 * @template Group
 * @typedef {{[Kind in keyof Group]: (detail: Group[Kind], event: Event) => unknown}} Handlers
 */
/**
 * What has to be said with a kind.
 * @template {keyof Messages} Kind
 * @typedef {Messages[Kind] extends undefined ? [] : [detail: Messages[Kind]]} Said
 */

export {};
