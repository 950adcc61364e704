/**
 * What somebody typed and has not sent. It outlives a reload, a sign-in that ran out, and the way back: it stands in
 * the tab's own storage, under the user's id, until it was sent or thrown away. Tokens never stand here.
 */

const PREFIX = "ringi.typed";

function storage(): Storage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}

/** In a browser that keeps nothing, for as long as the tab is open. */
const memory = new Map<string, string>();

function nameOf(user: string, what: string): string {
  return `${PREFIX}/${user}/${what}`;
}

export function keep(user: string, what: string, value: unknown): void {
  const [name, text] = [nameOf(user, what), JSON.stringify(value)];
  memory.set(name, text);
  try {
    storage()?.setItem(name, text);
  } catch {
    // The storage is full: memory has it.
  }
}

export function kept<T>(user: string, what: string): T | undefined {
  const name = nameOf(user, what);
  const text = memory.get(name) ?? storage()?.getItem(name);
  if (text == null) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

export function drop(user: string, what: string): void {
  const name = nameOf(user, what);
  memory.delete(name);
  storage()?.removeItem(name);
}
