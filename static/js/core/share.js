// @ts-check
/** What others paste to show a scenario elsewhere. */

/**
 * HTML that shows an address inside another page: a frame, with everything escaped that could end an attribute. It may go full
 * screen; nothing else is allowed to it.
 * @param {string} url  absolute, of the embed view
 * @param {string} title  what a screen reader calls the frame
 * @param {{width?: number, height?: number}} [size]  in CSS pixels
 */
export function embedCode(url, title, { width = 800, height = 450 } = {}) {
  return `<iframe src="${escaped(url)}" title="${escaped(title)}" width="${width}" height="${height}" loading="lazy" allow="fullscreen"></iframe>`;
}

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
