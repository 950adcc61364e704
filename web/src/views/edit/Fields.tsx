/** The fields of a request's content. */

import { useMemo } from "react";
import { useLanguage } from "../../i18n";
import { CURRENCIES, decimalsOf, formatMoney, parseAmount } from "../../lib/money";
import { count, LIMITS } from "../../lib/text";
import { Icon } from "../../ui/icons";
import { violationSentence } from "../../ui/problems";
import type { FieldName, Problems, Typed } from "./content";

interface Props {
  typed: Typed;
  problems: Problems;
  onChange: (name: FieldName, value: string) => void;
  onLeave: (name: FieldName) => void;
}

const LIMIT: Partial<Record<FieldName, number>> = { title: LIMITS.title, description: LIMITS.description };

export function Fields({ typed, problems, onChange, onLeave }: Props) {
  const { language, t } = useLanguage();
  const problem = (name: FieldName) => {
    const code = problems[name];
    if (!code) return undefined;
    if (code === "decimals" && decimalsOf(typed.currency) === 0)
      return t("rule.no_decimals", { currency: typed.currency });
    return violationSentence(code, t, {
      max: LIMIT[name] ?? 0,
      decimals: decimalsOf(typed.currency),
      currency: typed.currency,
    });
  };
  const control = (name: FieldName) => ({
    id: `edit-${name}`,
    value: typed[name],
    "aria-invalid": problems[name] ? true : undefined,
    "aria-describedby": problems[name] ? `edit-${name}-problem` : `edit-${name}-hint`,
    onChange: (event: { target: { value: string } }) => onChange(name, event.target.value),
    onBlur: () => onLeave(name),
  });
  const currencies = useMemo(() => {
    const names = new Intl.DisplayNames(language, { type: "currency" });
    return CURRENCIES.map((code) => [code, names.of(code) ?? code] as const);
  }, [language]);
  const parsed = typed.amount.trim() === "" ? undefined : parseAmount(typed.amount, typed.currency);
  return (
    <>
      <Labelled
        name="title"
        label={t("field.title")}
        problem={problem("title")}
        hint={t("characters", { count: count(typed.title), max: LIMITS.title })}
      >
        <input {...control("title")} type="text" dir="auto" required autoComplete="off" />
      </Labelled>
      <div className="money-fields">
        <Labelled
          name="amount"
          label={t("field.amount")}
          problem={problem("amount")}
          hint={parsed && "amount" in parsed ? formatMoney(parsed.amount, typed.currency, language) : t("amount.hint")}
        >
          <input {...control("amount")} type="text" inputMode="decimal" autoComplete="off" />
        </Labelled>
        <Labelled name="currency" label={t("field.currency")} problem={problem("currency")}>
          <select {...control("currency")}>
            {currencies.map(([code, name]) => (
              <option key={code} value={code}>
                {code} – {name}
              </option>
            ))}
          </select>
        </Labelled>
      </div>
      <Labelled
        name="description"
        label={t("field.description")}
        problem={problem("description")}
        hint={t("characters", { count: count(typed.description), max: LIMITS.description })}
      >
        <textarea {...control("description")} dir="auto" rows={10} />
      </Labelled>
    </>
  );
}

function Labelled({
  name,
  label,
  problem,
  hint,
  children,
}: {
  name: FieldName;
  label: string;
  problem?: string;
  hint?: string;
  children: React.ReactNode;
}) {
  return (
    <div className={`field ${problem ? "has-problem" : ""}`}>
      <label htmlFor={`edit-${name}`}>{label}</label>
      {children}
      {problem ? (
        <p className="problem-text" id={`edit-${name}-problem`}>
          <Icon name="warning" />
          {problem}
        </p>
      ) : (
        <p className="hint" id={`edit-${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
