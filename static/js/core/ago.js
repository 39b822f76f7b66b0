// @ts-check
/** When something was, in words of the reader's language: how long ago, and exactly. */

/** @type {[Intl.RelativeTimeFormatUnit, number][]} unit, and its length in seconds */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/**
 * In the largest unit of which at least one has gone by: "3 hours ago", "yesterday", "now".
 * @param {number} then @param {number} now  milliseconds @param {string} lang
 */
export function ago(then, now, lang) {
  if (!Number.isFinite(then)) return '';
  const seconds = Math.max(0, (now - then) / 1000); // a clock that was set back is no future
  const [unit, length] = UNITS.find((one) => seconds >= one[1]) ?? ['second', Infinity];
  return new Intl.RelativeTimeFormat(lang, { numeric: 'auto' }).format(-Math.floor(seconds / length), unit);
}

/** @param {number} then  milliseconds @param {string} lang @param {string} [timeZone] the reader's own by default */
export function exactly(then, lang, timeZone) {
  if (!Number.isFinite(then) || Number.isNaN(new Date(then).getTime())) return '';
  return new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(then);
}
