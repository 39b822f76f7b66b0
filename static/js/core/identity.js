// @ts-check
/**
 * What a request looks like: letter + hatch + colour, the same everywhere.
 *
 * In: the scenario's requests. Out: per req_id a letter (the id itself if it is one character, else the next
 * unused letter; a blank is drawn as ␣), one of twelve colours and one of six hatches, so that twelve requests differ in
 * all three
 * and the thirteenth repeats a colour with another hatch.
 */

/** @typedef {{letter: string, colour: number, hatch: number}} Identity */

export const COLOURS = 12;
export const HATCHES = 6;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * @param {{req_id: string}[]} requests
 * @returns {Map<string, Identity>}
 */
export function identities(requests) {
  const taken = new Set(requests.map(({ req_id }) => req_id).filter((id) => [...id].length === 1));
  let next = 0;
  const unused = () => {
    while (next < LETTERS.length && taken.has(LETTERS[next])) next += 1;
    next += 1;
    // Beyond 52 requests letters repeat with a digit: two requests never share a whole identity by then.
    const place = next - 1;
    return place < LETTERS.length ? LETTERS[place] : LETTERS[place % 26] + Math.floor(place / 26);
  };
  return new Map(
    requests.map(({ req_id }, index) => [
      req_id,
      {
        letter: [...req_id].length === 1 ? seen(req_id) : unused(),
        colour: index % COLOURS,
        hatch: (index + Math.floor(index / COLOURS)) % HATCHES,
      },
    ]),
  );
}

/**
 * A name as it can be seen: blanks at its ends are drawn, and so is everything in a name that consists of nothing else.
 * @param {string} name
 */
export function seen(name) {
  const drawn = (/** @type {string} */ blanks) => '␣'.repeat([...blanks].length);
  return name.replace(/^[\s\p{Z}\p{Cc}\p{Cf}\u115f\u1160\u2800\u3164]+$|^[\s\x1c-\x1f\x85]+|[\s\x1c-\x1f\x85]+$/gu, drawn);
}
