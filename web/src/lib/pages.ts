/**
 * The place of a window of pages in an endless list that can only be walked forwards. Of 10,000 rows a few hundred are
 * held; the cursors of all pages that were seen are, so that the window can move back as well.
 */

export type Cursor = string | null;

/** What begins the first page of a window that moves. Not null: nothing is ever read before a page that null would begin. */
export const FIRST = "";

export class Cursors {
  /** `known[n]` begins page n. */
  readonly known: string[] = [FIRST];

  /** The number of the page that this cursor begins; the first one's for a cursor that is not known. */
  indexOf(cursor: string): number {
    return Math.max(0, this.known.indexOf(cursor));
  }

  /** What begins the page before. */
  before(cursor: string): string | undefined {
    const at = this.indexOf(cursor);
    return at > 0 ? this.known[at - 1] : undefined;
  }

  /**
   * Takes over the window's cursors, and the one after it. Those of later pages were made from rows that may have
   * changed since: the walk makes them anew.
   */
  take(window: readonly string[], next: Cursor): void {
    const first = this.indexOf(window[0] ?? FIRST);
    const all = next === null ? window : [...window, next];
    for (const [n, cursor] of all.entries()) this.known[first + n] = cursor;
    if (this.known[first + all.length] !== undefined) this.known.length = first + all.length;
  }
}

/**
 * How far to scroll so that what a person looks at stays where it is: the row that was first in sight, or the next one
 * that is still there, has a new number.
 */
export function shift(before: readonly string[], after: readonly string[], first: number, offset: number): number {
  const places = new Map(after.map((id, n) => [id, n + offset]));
  for (let n = first; n < before.length; n += 1) {
    const now = places.get(before[n] ?? "");
    if (now !== undefined) return now - (n + offset);
  }
  return 0;
}
