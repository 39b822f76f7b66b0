// The browser's codec, as a filter: one JSON line in, one out. `{"encode": scenario}` gives `{"link"}`, `{"decode": text}`
// gives
// `{"scenario"}` or `{"kind", "params"}`, `{"compact": document}` gives `{"compact"}`.
import { createInterface } from 'node:readline';
import { compact } from '../../static/js/core/scenario/compact.js';
import { servedFormat } from '../js/fixtures/served.js';
import { LinkError, decodeLink, encodeLink } from '../../static/js/core/address/link.js';

const format = servedFormat();

/** @param {any} line */
async function answer(line) {
  try {
    if ('encode' in line) return { link: await encodeLink(format, line.encode) };
    if ('compact' in line) return { compact: compact(format, line.compact) };
    return { scenario: await decodeLink(line.decode) };
  } catch (error) {
    if (error instanceof LinkError) return { kind: error.kind, params: error.params };
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line) console.log(JSON.stringify(await answer(JSON.parse(line))));
}
