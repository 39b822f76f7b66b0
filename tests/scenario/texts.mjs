// What the browser makes of scenarios and texts: a JSON line in, one out. `{"write": scenario}` gives its YAML;
// `{"read": text, "notation"}` gives `{"document"}`, where a map is `{"map": [[key, value], ...]}`, or `{"fault"}`.
import { createInterface } from 'node:readline';
import { readText } from '../../static/js/core/text/notation.js';
import { writeScenario } from '../../static/js/core/text/scenario-text.js';
import { servedFormat } from '../js/fixtures/served.js';

const format = servedFormat();

/** @param {any} node @returns {any} */
function plain(node) {
  if (node.kind === 'list') return node.items.map(plain);
  if (node.kind === 'map') return { map: node.pairs.map(({ key, value }) => [key, plain(value)]) };
  return node.value;
}

/** @param {any} line */
function answer(line) {
  if ('write' in line) return writeScenario(format, line.write, 'yaml');
  const { root, faults } = readText(line.read, line.notation);
  return root ? { document: plain(root) } : { fault: faults[0].key };
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(answer(JSON.parse(line))));
