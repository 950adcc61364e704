/** When a draft is saved by itself. */

/** After so long without a key, in milliseconds. */
export const REST = 5_000;
/** Somebody who never rests is saved so often all the same. */
export const AT_MOST_EVERY = 30_000;

/**
 * How long until the next save: after a rest, but not sooner than 30 s after the last one; and while somebody types on
 * and on, not later than that after the first change that is not saved.
 */
export function dueIn(now: number, lastTyped: number, firstUnsaved: number, lastSaved: number | undefined): number {
  const rested = lastTyped + REST;
  const patience = firstUnsaved + AT_MOST_EVERY;
  const soonest = lastSaved === undefined ? 0 : lastSaved + AT_MOST_EVERY;
  return Math.max(0, Math.max(Math.min(rested, patience), soonest) - now);
}
