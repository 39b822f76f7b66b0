// @ts-check
/**
 * What somebody asks for in the find box: which index space, which number, whose.
 *
 * In: text in either language ("slot 207", "pos 31 of A", "请求 A", "槽位207", "slot_mappings[0, 3]"). Out: the parts
 * of it that were understood. Whether there is such a thing is for `find` to say.
 */

/**
 * @typedef {'slot' | 'block' | 'logical_block' | 'token_id' | 'flat_token' | 'position' | 'pool_row' | 'batch_row' |
 *   'byte' | 'request'} Kind
 */
/**
 * @typedef {object} Query
 * @property {string} text
 * @property {Kind[]} kinds  what the number may be; empty: anything
 * @property {number | null} number
 * @property {string} name  what was not understood: the name of a request, if it is one
 * @property {{space: string, at: number[]} | null} cell  a cell by its address
 */

/** What each word may stand for, the longer words before the shorter ones they begin with. @type {[Kind[], string[]][]} */
const WORDS = [
  [
    ['token_id'],
    ['token id', 'token_id', 'input_ids', 'input id', 'input_id', 'token 编号', 'token编号', '词元编号', '编号', 'id'],
  ],
  [['flat_token'], ['flat_token_idx', 'flat token', 'flat', '展平 token', '展平token', '展平词元', '展平']],
  [
    ['token_id', 'flat_token'],
    ['tokens', 'token', 'tok', '词元'],
  ],
  [['slot'], ['slot_mappings', 'slot_mapping', 'slot id', 'slot_id', 'slots', 'slot', '槽位号', '槽位', '槽']],
  [['logical_block'], ['logical block', 'block_index', 'block index', '逻辑块']],
  [['block'], ['physical block', 'block_id', 'block id', 'block number', 'blocks', 'block', 'page', '物理块', '块号', '块']],
  [['position'], ['positions', 'position', 'pos', '位置']],
  [['pool_row'], ['req_state_idx', 'pool row', '状态池行', '池行']],
  [['batch_row'], ['batch_idx', 'batch row', 'batch', '批次行', '批行', '批']],
  [
    ['pool_row', 'batch_row'],
    ['row', '行'],
  ],
  [['byte'], ['byte_offset', 'byte offset', 'bytes', 'byte', '字节']],
  [['request'], ['request', 'req_id', 'req', '请求']],
];

const IS_CJK = /[\u3400-\u9fff]/;
/** @type {{kinds: Kind[], pattern: RegExp}[]} */
const VOCABULARY = WORDS.flatMap(([kinds, words]) => words.map((word) => ({ kinds, word })))
  .sort((a, b) => b.word.length - a.word.length)
  .map(({ kinds, word }) => ({
    kinds,
    pattern: new RegExp(word.replaceAll(' ', '\\s+') + (/[a-z]$/.test(word) ? '(?![a-z_-])' : ''), 'iy'),
  }));

const NUMBER = /-?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?![\w,.-]*[A-Za-z_\d])/y;
const BETWEEN = /(?:[\s:=#,，。：、()[\]]|第|的|号|of(?![\w-])|in(?![\w-])|['’]s(?!\w)|number(?!\w)|no\.)+/iy;
const CELL = /^([a-z][a-z0-9_]*)\s*(?:\[\s*(\d{1,8}(?:\s*[,\s]\s*\d{1,8}){0,3})\s*\]?|((?:\.\d{1,8}){1,4}))$/;
/** Longer text is no question: a name has at most 128 characters. */
const MOST_CHARACTERS = 200;

/**
 * @param {string} raw
 * @returns {Query}
 */
export function parseQuery(raw) {
  const text = raw.normalize('NFKC').trim().slice(0, MOST_CHARACTERS);
  /** @type {Query} */
  const query = { text, kinds: [], number: null, name: '', cell: cellOf(text) };
  if (query.cell) return query;
  let rest = '';
  for (let at = 0; at < text.length; ) {
    const between = match(BETWEEN, text, at);
    const word = between ? null : wordAt(text, at);
    if (between) at += between.length;
    else if (word) {
      // "position 31 of request B": the first word says what the number is, `request` only introduces a name.
      if (query.kinds.length === 0 || (query.kinds.includes('request') && !word.kinds.includes('request')))
        query.kinds = word.kinds;
      at += word.length;
    } else {
      const number = query.number === null && startsHere(text, at) ? match(NUMBER, text, at) : '';
      if (number) query.number = Number(number.replaceAll(',', ''));
      const end = number ? at + number.length : nameEnd(text, at);
      if (!number) rest += (rest ? ' ' : '') + text.slice(at, end);
      at = end;
    }
  }
  query.name = rest.trim();
  return query;
}

/** `slot_mappings[0, 3]`, or as in addresses `slot_mappings.0.3`. @param {string} text */
function cellOf(text) {
  const found = CELL.exec(text);
  if (!found) return null;
  const at = (found[2] ?? found[3].slice(1))
    .split(/[\s,.]+/)
    .filter(Boolean)
    .map(Number);
  return { space: found[1], at };
}

/** @param {RegExp} pattern sticky @param {string} text @param {number} at */
function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** @param {string} text @param {number} at */
function wordAt(text, at) {
  if (!startsHere(text, at)) return null;
  for (const { kinds, pattern } of VOCABULARY) {
    const found = match(pattern, text, at);
    if (found) return { kinds, length: found.length };
  }
  return null;
}

/** A Latin word or a number begins only where nothing Latin stands before it. @param {string} text @param {number} at */
function startsHere(text, at) {
  return IS_CJK.test(text[at]) || at === 0 || !/[\w-]/.test(text[at - 1]) || /[a-z]\d/i.test(text.slice(at - 1, at + 1));
}

/**
 * A name runs to the next blank, or to the next Chinese word that means something.
 * @param {string} text
 * @param {number} at
 */
function nameEnd(text, at) {
  let end = at + 1;
  while (end < text.length && !match(BETWEEN, text, end) && !(IS_CJK.test(text[end]) && wordAt(text, end))) end += 1;
  return end;
}
