// @ts-check
/** What the page makes of words, numbers, names, addresses: a JSON line in, one out. The server makes the same of them. */
import { createInterface } from 'node:readline';
import { parseAddress } from '../../static/js/core/address/address.js';
import { runs, translator } from '../../static/js/core/i18n.js';
import { identities, seen } from '../../static/js/core/identity.js';
import { hasOutline } from '../../static/js/core/scenario/outline.js';
import { MOST_BYTES } from '../../static/js/core/text/notation.js';
import { MAX_DEPTH, MAX_KEY_LENGTH } from '../../static/js/core/text/text-tree.js';

/** @type {Record<string, (given: any) => any>} */
const ANSWERS = {
  say: ({ text, one, params }) => translator({ text, ...(one === null ? {} : { 'text.one': one }) })('text', params),
  runs: ({ numbers, separator }) => runs(numbers, translator({ 'list.separator': separator })),
  seen: (name) => seen(name),
  identities: (names) => [...identities(names.map((/** @type {string} */ req_id) => ({ req_id }))).entries()],
  limits: () => ({ ...MOST_BYTES, depth: MAX_DEPTH, key: MAX_KEY_LENGTH }),
  outline: (document) => hasOutline(document),
  address: (search) => {
    const { s, example, lang } = parseAddress(search);
    return { s, example, lang };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [[what, given]] = Object.entries(JSON.parse(line));
  console.log(JSON.stringify(ANSWERS[what](given)));
}
