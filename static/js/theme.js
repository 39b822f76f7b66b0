// @ts-check
// Before the first paint: the theme the reader chose, else the system's. A classic script, so that nothing flashes.
(() => {
  try {
    const theme = localStorage.getItem('pagewalk.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: the system's theme stays.
  }
})();
