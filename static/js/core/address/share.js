// @ts-check
/** What others paste to show a scenario elsewhere. */

/**
 * HTML that shows an address inside another page: a frame, with everything escaped that could end an attribute. It may go
 * full
 * screen; nothing else is allowed to it.
 * @param {string} url  absolute, of the embed view
 * @param {string} title  what a screen reader calls the frame
 * @param {{width?: number, height?: number}} [size]  in CSS pixels
 */
export function embedCode(url, title, { width = 800, height = 450 } = {}) {
  const size = `width="${width}" height="${height}"`;
  return `<iframe src="${escaped(url)}" title="${escaped(title)}" ${size} loading="lazy" allow="fullscreen"></iframe>`;
}

/** @type {Record<string, string>} */
const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

/**
 * A link in Markdown; with a picture, the picture is what one clicks.
 * @param {string} title @param {string} url @param {string} [picture]  its address
 */
export function markdown(title, url, picture) {
  const words = title.replace(/\s+/g, ' ').replace(/[\\[\]*_`<>!|#&~]/g, '\\$&');
  const target = plain(url);
  return picture ? `[![${words}](${plain(picture)})](${target})` : `[${words}](${target})`;
}

/** An address in which nothing ends a Markdown link. @param {string} url */
function plain(url) {
  return url.replace(/[()<>\s]/g, (character) =>
    encodeURIComponent(character).replace(/[()]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`),
  );
}
