// @ts-check
/** Ways of a text into the page and out of it: files and the clipboard. */
import { MOST_BYTES } from '../../core/text/notation.js';

/** @typedef {import('../../core/i18n.js').Translate} Translate */
/** @typedef {import('../../core/text/scenario-text.js').Notation} Notation */

/**
 * @param {File} file
 * @param {Translate} t
 * @returns {Promise<{text: string, message: ''} | {text: null, message: string}>}
 */
export async function textOfFile(file, t) {
  const limit = Math.max(...Object.values(MOST_BYTES));
  if (file.size > limit) return { text: null, message: t('text.too_large', { bytes: file.size, limit }) };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()), message: '' };
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error; // bytes that are no text, or a file that is gone
    return { text: null, message: t('text.not_a_text', { name: file.name }) };
  }
}

/** @param {string} text @param {Translate} t @returns {Promise<string>} what came of it */
export async function copied(text, t) {
  try {
    await navigator.clipboard.writeText(text);
    return t('text.copied');
  } catch {
    return t('text.not_copied'); // not allowed, or no such thing without https
  }
}

/** @param {string} text @param {Notation} notation @param {string} title */
export function download(text, notation, title) {
  const name = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)
    .toLowerCase();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: `application/${notation}` }));
  link.download = `${name || 'scenario'}.${notation}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * A file may be dropped anywhere on the page: the browser would leave the page for it.
 * @param {() => boolean} isWanted @param {(file: File) => unknown} open
 */
export function receiveFiles(isWanted, open) {
  const receive = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes('Files') || !isWanted()) return;
    event.preventDefault();
    const file = event.type === 'drop' ? event.dataTransfer.files[0] : null;
    if (file && !document.querySelector('dialog[open]')) open(file);
  };
  document.addEventListener('dragover', receive);
  document.addEventListener('drop', receive);
}
