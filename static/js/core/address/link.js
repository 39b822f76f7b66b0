// @ts-check
/**
 * Self-contained links: a whole scenario as one word for an address, and back.
 *
 *     1 + base64url(raw deflate of the compact scenario, as JSON in UTF-8) + ~ + CRC-32 of all characters before the ~
 *
 * app/scenario/format/link.py describes the format and does the same on the server; the bytes of two deflate engines differ,
 * what they decode to does not. Deflate is the platform's own.
 */
import { compact } from '../scenario/compact.js';
import { hasOutline } from '../scenario/outline.js';

const VERSION = '1';
/** Of the scenario, inflated: as much as the server takes. */
const MAX_JSON_BYTES = 1_048_576;
/** What cannot be pressed smaller is about as long as this. */
const MAX_LINK_LENGTH = 1_572_864;
/** Deepest nesting that the server reads. */
const MAX_DEPTH = 64;
/** Deflate makes at most about 1,032 bytes of one: what is inflated ahead of the look at its size stays small. */
const SLICE = 512;

const IN_AN_ADDRESS = /[?&;]s=([^&#]*)/;
const PERCENT = /%([0-7][0-9A-Fa-f])/g; // ASCII: all that a link is made of
const BROKEN_LINE = /[\r\n][\s>|]*/g; // mail programs begin quoted lines with > or |
const IGNORED = /[\s\\\u00ad\u200b-\u200f\u2060\ufeff]/g; // white space, invisible characters, Markdown's backslash
const BEFORE = /^[<>()[\]{}"'`*“”‘’«»„]+/;
const PARTS = /^([^~]*)~([\w-]*)(.*)$/s;
const NOT_OURS = /[^\w-]/u;
const WHOLE = /^[\w-]+~[\w-]{6}(?=\s)/; // and then other words

/** Why a link cannot be opened; `kind` and `params` say it: the sentence is `fault.link.<kind>`. */
export class LinkError extends Error {
  /** @param {string} kind @param {Record<string, string | number>} [params] */
  constructor(kind, params = {}) {
    super(kind);
    this.kind = kind;
    this.params = params;
  }
}

/**
 * The word for `?s=` that holds the scenario. Throws LinkError (`too_large`, `unsupported`).
 * @param {import('../scenario/format.js').Format} format
 * @param {any} scenario
 * @returns {Promise<string>}
 */
export async function encodeLink(format, scenario) {
  const text = new TextEncoder().encode(JSON.stringify(compact(format, scenario)));
  if (text.length > MAX_JSON_BYTES) throw new LinkError('too_large', { limit: MAX_JSON_BYTES });
  if (typeof CompressionStream === 'undefined') throw new LinkError('unsupported');
  const body = VERSION + base64url(await through(new CompressionStream('deflate-raw'), text, Infinity));
  return `${body}~${checksum(body)}`;
}

/**
 * The scenario in a link, or in an address that holds one, in compact form. Throws LinkError: `truncated`, `altered`,
 * `characters`, `not_canonical`, `version` (of a newer format), `no_version` (of none that there was), `not_a_scenario`, `too_large`, `unsupported`.
 * @param {string} text
 * @returns {Promise<any>}
 */
export async function decodeLink(text) {
  const { body, given } = split(cleaned(text));
  if (body === '' || checksum(body) !== given) throw new LinkError('altered');
  if (body[0] !== VERSION)
    throw new LinkError(body[0] > VERSION ? 'version' : 'no_version', { version: body[0], known: VERSION });
  const data = bytes(body.slice(1));
  if (typeof DecompressionStream === 'undefined') throw new LinkError('unsupported');
  return read(await through(new DecompressionStream('deflate-raw'), data, MAX_JSON_BYTES));
}

/** What of a text is the link itself, as it was made. Throws LinkError where there is none. @param {string} text */
export function plainLink(text) {
  const { body, given } = split(cleaned(text));
  return `${body}~${given}`;
}

/** CRC-32 of the ASCII characters of a link before its `~`, as 6 characters. @param {string} body */
export function checksum(body) {
  let crc = 0xffffffff;
  for (let at = 0; at < body.length; at += 1) crc = (crc >>> 8) ^ TABLE[(crc ^ body.charCodeAt(at)) & 0xff];
  const four = new Uint8Array(4);
  new DataView(four.buffer).setUint32(0, (crc ^ 0xffffffff) >>> 0);
  return base64url(four);
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit += 1) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

/** What of a text is the link: all but what others put around and into it. @param {string} text */
function cleaned(text) {
  if (text.length > 4 * MAX_LINK_LENGTH) throw new LinkError('too_large', { limit: MAX_JSON_BYTES });
  for (let round = 0; round < 3 && text.includes('%'); round += 1) {
    text = text.replace(PERCENT, (_, code) => String.fromCharCode(parseInt(code, 16))); // an address within an address
  }
  text = text.replace(BROKEN_LINE, '');
  text = (IN_AN_ADDRESS.exec(text)?.[1] ?? text).trimStart().replace(BEFORE, '');
  text = WHOLE.exec(text)?.[0] ?? text.replace(IGNORED, '');
  if (text.length > MAX_LINK_LENGTH) throw new LinkError('too_large', { limit: MAX_JSON_BYTES });
  return text;
}

/** The characters before the `~` and the 6 behind it, each one that a link may have. @param {string} text */
function split(text) {
  const [, body, given, tail] = PARTS.exec(text) ?? [];
  if (body === undefined) throw new LinkError('truncated');
  if (given.length > 6 || tail.includes('~')) throw new LinkError('altered');
  const goesOn = given.length < 6 && /[\w-]/.test(tail); // and then what stands between is no end
  const wrong = NOT_OURS.exec(goesOn ? body + tail : body);
  if (wrong) throw new LinkError('characters', { character: wrong[0] });
  if (given.length < 6) throw new LinkError('truncated');
  return { body, given };
}

/** Base64url without padding; of the ways to write the same bytes only the one with no stray bits. @param {string} body */
function bytes(body) {
  let data = new Uint8Array();
  try {
    data = Uint8Array.from(atob(body.replace(/-/g, '+').replace(/_/g, '/')), (one) => one.charCodeAt(0));
  } catch {
    // A lone last character stands for no byte.
  }
  if (base64url(data) !== body) throw new LinkError('not_canonical');
  return data;
}

/** @param {Uint8Array} data */
function base64url(data) {
  let text = '';
  for (let at = 0; at < data.length; at += 4_096) text += String.fromCharCode(...data.subarray(at, at + 4_096));
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/**
 * Presses or inflates slice by slice, and stops as soon as more than `most` bytes came out.
 * @param {CompressionStream | DecompressionStream} stream @param {Uint8Array} data @param {number} most
 */
async function through(stream, data, most) {
  const writer = stream.writable.getWriter();
  const writing = (async () => {
    for (let at = 0; at < data.length; at += SLICE) {
      await writer.ready;
      await writer.write(data.slice(at, at + SLICE));
    }
    await writer.close();
  })();
  writing.catch(() => {}); // the reader hears of it too
  const reader = stream.readable.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > most) break;
      parts.push(value);
    }
  } catch {
    throw new LinkError('not_a_scenario');
  }
  if (size > most) {
    await reader.cancel().catch(() => {});
    throw new LinkError('too_large', { limit: most });
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} data JSON in UTF-8 */
function read(data) {
  let scenario;
  let text = '';
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(data);
    scenario = JSON.parse(text);
  } catch {
    throw new LinkError('not_a_scenario');
  }
  const { depth, keys } = measure(text);
  if (depth > MAX_DEPTH || !hasOutline(scenario)) throw new LinkError('not_a_scenario');
  const found = count(scenario);
  if (found.keys !== keys || !found.isFinite) throw new LinkError('not_a_scenario'); // a key twice, a number like 1e999
  return scenario;
}

/** How deep a JSON text is nested, and how many keys its objects have, one by one. @param {string} text */
function measure(text) {
  let depth = 0;
  let deepest = 0;
  let keys = 0;
  for (const [token, isKey] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)|[[{]|[\]}]/g)) {
    if (token[0] === '"') keys += isKey ? 1 : 0;
    else if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else depth -= 1;
  }
  return { depth: deepest, keys };
}

/**
 * The same of what was read: of a key that was there twice, one is left.
 * @param {any} value
 * @returns {{keys: number, isFinite: boolean}}
 */
function count(value) {
  if (typeof value === 'number') return { keys: 0, isFinite: Number.isFinite(value) };
  if (typeof value !== 'object' || value === null) return { keys: 0, isFinite: true };
  const inner = Object.values(value).map(count);
  const own = Array.isArray(value) ? 0 : inner.length;
  return { keys: inner.reduce((sum, { keys }) => sum + keys, own), isFinite: inner.every((one) => one.isFinite) };
}
