// Before the first paint: a chosen theme must not flash in the other one. What is remembered is a preference, no secret.
try {
  const theme = localStorage.getItem("ringi.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing shows what the system says.
}
