// @ts-check
/** Light or dark: each click shows the other one. What the system would show anyway is left to the system. */

const KEY = 'pagewalk.theme';

/** @param {import('../../core/i18n.js').Translate} t */
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
    const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    const other = (html.dataset.theme ?? system) === 'dark' ? 'light' : 'dark';
    const next = other === system ? 'auto' : other;
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
