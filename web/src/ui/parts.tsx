/** The small parts that every view is made of. */

import { Button as BaseButton } from "@base-ui/react/button";
import { type ComponentProps, type ReactNode, useId } from "react";
import type { Status } from "../api/types";
import { useT } from "../i18n";
import { Icon, type IconName } from "./icons";

export type Tone = "plain" | "primary" | "good" | "bad" | "quiet";

export function Button({
  tone = "plain",
  icon,
  keyHint,
  children,
  className = "",
  ...rest
}: { tone?: Tone; icon?: IconName; keyHint?: string; children: ReactNode } & Omit<
  ComponentProps<typeof BaseButton>,
  "children" | "className"
> & {
    className?: string;
  }) {
  return (
    <BaseButton className={`button ${tone} ${className}`} aria-keyshortcuts={keyHint} {...rest}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
      {keyHint && <kbd aria-hidden="true">{keyHint}</kbd>}
    </BaseButton>
  );
}

export function StatusBadge({ status }: { status: Status }) {
  const t = useT();
  return <span className={`badge status-${status}`}>{t(`status.${status}`)}</span>;
}

/** What somebody wrote: shown as it is, in its own direction, breaking wherever it must. */
export function Written({ children, className = "" }: { children: string; className?: string }) {
  return (
    <span dir="auto" className={`written ${className}`}>
      {children}
    </span>
  );
}

/** A label, its control, what helps, and what is wrong, put together for eyes and for screen readers alike. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  problem?: string;
  children: (ids: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const described = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div className={`field ${problem ? "has-problem" : ""}`}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": problem ? true : undefined })}
      {problem && (
        <p className="problem-text" id={`${id}-problem`}>
          <Icon name="warning" />
          {problem}
        </p>
      )}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** One line of a list of facts, `<dl className="facts">`. */
export function Fact({ label, children, mono = false }: { label: string; children: ReactNode; mono?: boolean }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={mono ? "mono" : undefined} dir="auto">
        {children}
      </dd>
    </div>
  );
}

export type NoticeKind = "info" | "good" | "warning" | "bad";

/** Something that the person should know, at the place that it is about. */
export function Notice({
  kind = "info",
  title,
  children,
  actions,
}: {
  kind?: NoticeKind;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {title && <p className="notice-title">{title}</p>}
      {children && <div className="notice-body">{children}</div>}
      {actions && <div className="actions">{actions}</div>}
    </div>
  );
}

/** Nothing to show: says why, and what to do. `main`: the whole view is about that. */
export function Empty({ title, main = false, children }: { title: string; main?: boolean; children?: ReactNode }) {
  const Title = main ? "h1" : "p";
  return (
    <div className="empty">
      <svg viewBox="0 0 64 64" aria-hidden="true" className="empty-seal">
        <circle cx="32" cy="32" r="26" />
        <path d="M21 33l8 8 15-18" />
      </svg>
      <Title className="empty-title">{title}</Title>
      {children && <div>{children}</div>}
    </div>
  );
}

export function Loading({ lines = 4 }: { lines?: number }) {
  const t = useT();
  return (
    <div className="loading" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={n} className="skeleton" />
      ))}
    </div>
  );
}
