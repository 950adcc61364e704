/** A table with the names of its columns, which is scrolled sideways where it does not fit. */

import type { ReactNode } from "react";
import { useT } from "../i18n";

export function Table({
  columns,
  numbers = 0,
  actions = false,
  narrow,
  children,
}: {
  columns: readonly string[];
  /** How many of the last columns hold numbers. */
  numbers?: number;
  /** One more column, of buttons. */
  actions?: boolean;
  /** On a phone: scrolled rather than broken letter by letter, or a card for each row. */
  narrow?: "wide" | "cards";
  children: ReactNode;
}) {
  const t = useT();
  return (
    <div className="table-scroll">
      <table className={`table ${narrow ?? ""}`}>
        <thead>
          <tr>
            {columns.map((name, n) => (
              <th key={name} scope="col" className={n >= columns.length - numbers ? "number" : undefined}>
                {name}
              </th>
            ))}
            {actions && (
              <th scope="col">
                <span className="visually-hidden">{t("actions")}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
