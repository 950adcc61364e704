/** Keys that do something anywhere on a view. People who speak to their machine, or lean on it, can turn them off. */

import { useEffect, useRef, useSyncExternalStore } from "react";

const STORED = "ringi.keys";
const listeners = new Set<() => void>();
let on = read();

function read(): boolean {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

export function setKeys(value: boolean): void {
  on = value;
  localStorage.setItem(STORED, value ? "on" : "off");
  for (const listener of listeners) listener();
}

export function useKeysOn(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => on,
  );
}

/** True where a key is a character that somebody writes, or belongs to what has the focus. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return true;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("input, textarea, select, [contenteditable], [role=menu], [role=listbox]")) return true;
  // Under an open dialog nothing happens. (A short word about what was done has that role, too, and takes no keys.)
  return document.querySelector(".dialog") !== null;
}

/** Calls what stands for the pressed key, as `event.key` names it. */
export function useKeys(map: Record<string, ((event: KeyboardEvent) => void) | undefined>): void {
  const latest = useRef(map);
  latest.current = map;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!on || isTaken(event)) return;
      // Enter and space on a link or a button are its own.
      const onControl = event.target instanceof Element && event.target.closest("a, button, summary");
      if (onControl && (event.key === "Enter" || event.key === " ")) return;
      const action = latest.current[event.key];
      if (!action) return;
      event.preventDefault();
      action(event);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
