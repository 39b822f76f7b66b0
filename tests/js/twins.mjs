// @ts-check
/** What the page makes of words, numbers, names, addresses: a JSON line in, one out. The server makes the same of them. */
import { createInterface } from 'node:readline';
import { parseAddress } from '../../static/js/core/address/address.js';
import { runs, translator } from '../../static/js/core/i18n.js';
import { identities, seen } from '../../static/js/core/identity.js';
import { hasOutline } from '../../static/js/core/scenario/outline.js';

/** @type {Record<string, (given: any) => any>} */
const ANSWERS = {
  say: ({ text, one, params }) => translator({ text, ...(one === null ? {} : { 'text.one': one }) })('text', params),
  runs: (numbers) => runs(numbers),
  seen: (name) => seen(name),
  identities: (names) => [...identities(names.map((/** @type {string} */ req_id) => ({ req_id }))).entries()],
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
