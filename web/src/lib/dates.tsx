/** Times, as the organization's clocks show them. */

import { useLanguage } from "../i18n";
import { useOrganization } from "./organization";

/** A moment, to the minute; its exact time is in the element. */
export function Time({ at }: { at: string }) {
  const { language } = useLanguage();
  const zone = useOrganization()?.time_zone;
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, language, zone)}
    </time>
  );
}

/** Today's as a clock time, this year's without the year. */
export function formatTime(at: string, language: string, timeZone?: string, now = new Date()): string {
  const date = new Date(at);
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { ...options, ...zoned(timeZone) });
  const day = (of: Date) => part({ year: "numeric", month: "2-digit", day: "2-digit" }).format(of);
  const clock: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (day(date) === day(now)) return part(clock).format(date);
  const year = part({ year: "numeric" });
  const withYear: Intl.DateTimeFormatOptions = year.format(date) === year.format(now) ? {} : { year: "numeric" };
  return part({ month: "short", day: "numeric", ...withYear, ...clock }).format(date);
}

/** An IANA name that this browser does not know must not take the page down. */
function zoned(timeZone: string | undefined): Intl.DateTimeFormatOptions {
  if (!timeZone) return {};
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return { timeZone };
  } catch {
    return {};
  }
}

/** `2026-10` as a person says it. */
export function formatPeriod(period: string, language: string): string {
  const date = new Date(`${period}-15T12:00:00Z`);
  return new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" }).format(date);
}
