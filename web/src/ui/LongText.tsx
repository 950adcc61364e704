/** A text of several lines, with how much of it there may be. */

import type { KeyboardEvent, Ref } from "react";
import { useT } from "../i18n";
import { count } from "../lib/text";
import { Field } from "./parts";

export function LongText({
  label,
  limit,
  problem,
  value,
  rows = 3,
  required = false,
  ref,
  onChange,
  onKeyDown,
}: {
  label: string;
  /** In Unicode scalar values. */
  limit: number;
  problem?: string;
  value: string;
  rows?: number;
  required?: boolean;
  ref?: Ref<HTMLTextAreaElement>;
  onChange: (value: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}) {
  const t = useT();
  return (
    <Field label={label} problem={problem} hint={t("characters", { count: count(value), max: limit })}>
      {(ids) => (
        <textarea
          {...ids}
          ref={ref}
          dir="auto"
          rows={rows}
          value={value}
          aria-required={required}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={onKeyDown}
        />
      )}
    </Field>
  );
}
