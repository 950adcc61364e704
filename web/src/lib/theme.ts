/** Light or dark: the system's choice until the person makes his own. */

export type Theme = "system" | "light" | "dark";

const STORED = "ringi.theme";

export function theme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function setTheme(next: Theme): void {
  if (next === "system") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(STORED);
  } else {
    document.documentElement.dataset.theme = next;
    localStorage.setItem(STORED, next);
  }
}
