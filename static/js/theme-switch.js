// @ts-check
/** Light, dark, or as the system has it. */

const KEY = 'pagewalk.theme';
const NEXT = /** @type {Record<string, string>} */ ({ auto: 'light', light: 'dark', dark: 'auto' });

/** @param {import('./core/i18n.js').Translate} t */
export function connectTheme(t) {
  const button = document.querySelector('[data-theme-switch]');
  if (!(button instanceof HTMLElement)) return;
  const html = document.documentElement;
  const label = () => {
    const text = t(`theme.${html.dataset.theme ?? 'auto'}`);
    button.setAttribute('aria-label', text);
    button.title = text;
  };
  button.addEventListener('click', () => {
    const next = NEXT[html.dataset.theme ?? 'auto'];
    if (next === 'auto') delete html.dataset.theme;
    else html.dataset.theme = next;
    try {
      if (next === 'auto') localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
    } catch {
      // Storage is blocked: the choice lasts as long as the page.
    }
    label();
  });
  label();
}
