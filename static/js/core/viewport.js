// @ts-check
/**
 * Which part of a long axis is drawn: all sizes in CSS pixels, one fixed size per entry.
 */

/** @typedef {{first: number, last: number, before: number, after: number}} Visible  entries first..last-1 are drawn */

/**
 * @param {{scroll: number, extent: number, size: number, count: number, spare?: number}} view
 *   `extent` is the length of the window, `spare` how many entries more are drawn at each end
 * @returns {Visible}
 */
export function visible({ scroll, extent, size, count, spare = 6 }) {
  if (count === 0) return { first: 0, last: 0, before: 0, after: 0 };
  const first = Math.min(Math.max(0, Math.floor(scroll / size) - spare), count - 1);
  const last = Math.min(count, Math.max(first + 1, Math.ceil((scroll + extent) / size) + spare));
  return { first, last, before: first * size, after: (count - last) * size };
}

/**
 * The entries that are whole in sight, null if all of them are.
 * @param {{scroll: number, extent: number, size: number, count: number}} view
 */
export function inSight({ scroll, extent, size, count }) {
  if (extent <= 0 || count * size <= extent + 1) return null;
  const first = Math.min(count - 1, Math.ceil((scroll - 1) / size));
  return { first, last: Math.max(first, Math.min(count - 1, Math.floor((scroll + extent + 1) / size) - 1)) };
}

/**
 * Where to scroll so that an entry is in sight; the same place if it is already.
 * @param {{scroll: number, extent: number, size: number, index: number, margin?: number}} view
 */
export function scrollTo({ scroll, extent, size, index, margin = 1 }) {
  const start = index * size;
  const room = Math.min(margin * size, Math.max(0, (extent - size) / 2));
  if (start - room < scroll) return Math.max(0, start - room);
  if (start + size + room > scroll + extent) return start + size + room - extent;
  return scroll;
}

/**
 * Entries of a long list that are shown one by one: the head, the tail, and those that must be seen.
 * @param {number} count
 * @param {number} most
 * @param {number[]} must
 * @returns {({index: number} | {from: number, to: number})[]} single entries and elided runs
 */
export function elide(count, most, must = []) {
  const all = Array.from({ length: Math.min(count, 1 << 22) }, () => false);
  if (count <= most) all.fill(true);
  else {
    const head = Math.max(1, Math.floor(most / 3));
    const tail = Math.max(1, most - head - 1);
    all.fill(true, 0, head);
    all.fill(true, count - tail);
    for (const index of must) if (index >= 0 && index < count) all[index] = true;
  }
  /** @type {({index: number} | {from: number, to: number})[]} */
  const parts = [];
  for (let index = 0; index < count; ) {
    if (all[index]) {
      parts.push({ index });
      index += 1;
      continue;
    }
    let to = index;
    while (to + 1 < count && !all[to + 1]) to += 1;
    // A gap of one entry would take the room of the entry itself.
    if (to === index) parts.push({ index });
    else parts.push({ from: index, to });
    index = to + 1;
  }
  return parts;
}
