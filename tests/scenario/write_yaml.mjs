// Writes scenarios as YAML as the browser does: one of them, as JSON, on each line in; its text, as JSON, on each line out.
import { createInterface } from 'node:readline';
import { writeScenario } from '../../static/js/core/text/scenario-text.js';
import { servedFormat } from '../js/fixtures/served.js';

const format = servedFormat();

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(writeScenario(format, JSON.parse(line), 'yaml')));
