// @ts-check
/**
 * Whether two drafts say the same. An edit leaves alone what it does not change, so most of two drafts is one and the same
 * object.
 */

/**
 * As their JSON would tell, the order of keys included, but no slower than what differs is large.
 * @param {any} one @param {any} other @returns {boolean}
 */
export function isSame(one, other) {
  if (one === other) return true;
  if (
    typeof one !== 'object' ||
    typeof other !== 'object' ||
    one === null ||
    other === null ||
    Array.isArray(one) !== Array.isArray(other)
  )
    return false;
  if (Array.isArray(one)) return one.length === other.length && one.every((value, place) => isSame(value, other[place]));
  const [keys, others] = [said(one), said(other)];
  return keys.length === others.length && keys.every((key, place) => key === others[place] && isSame(one[key], other[key]));
}

/** @param {Record<string, any>} object */
function said(object) {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}
