// @ts-check
// Before the first paint: the theme the reader chose, else the system's, and how the page is shown. A classic script, so
// that nothing flashes.
(() => {
  const view = new URLSearchParams(location.search).get('view');
  if (view === 'present' || view === 'embed') document.documentElement.dataset.view = view;
  try {
    const theme = localStorage.getItem('pagewalk.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: the system's theme stays.
  }
})();
