/**
 * Somebody saved another content meanwhile, mostly the same person in another tab. Both are shown, field by field; the
 * person chooses, and nothing is sent until he saves again.
 */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Approval } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { Button, Loading, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Difference } from "../request/Difference";
import { currentOf, saying, standingQuery } from "../request/standing";
import { type FieldName, type Typed, typedOf } from "./content";

const FIELDS = ["title", "amount", "description"] as const;
type Chosen = Record<(typeof FIELDS)[number], "mine" | "theirs">;

export function EditConflict({
  base,
  typed,
  onTake,
  onGone,
}: {
  base: Approval;
  typed: Typed;
  onTake: (now: Approval, merged: Typed) => void;
  onGone: (id: string) => void;
}) {
  const t = useT();
  const { organization_id: org, id } = base;
  const [asOf] = useState(() => Date.now());
  const now = useQuery(standingQuery(org, id, base.version, asOf));
  const [chosen, setChosen] = useState<Chosen>({ title: "mine", amount: "mine", description: "mine" });
  if (now.isPending) return <Loading lines={5} />;
  if (now.isError) return <Failure error={now.error} retry={() => void now.refetch()} />;
  const { request, since } = now.data;
  const last = since.at(-1);
  const current = currentOf(request, last);
  const theirs = typedOf(request, typed.currency);
  const differs = FIELDS.filter(
    (name) => typed[name] !== theirs[name] || (name === "amount" && typed.currency !== theirs.currency),
  );
  const merged = (): Typed => {
    const take = (name: FieldName, from: "mine" | "theirs") => (from === "mine" ? typed[name] : theirs[name]);
    return {
      title: take("title", chosen.title),
      description: take("description", chosen.description),
      amount: take("amount", chosen.amount),
      currency: take("currency", chosen.amount),
    };
  };
  const title = current && <span dir="auto">{saying(current, t)}</span>;
  const gone = !request.allowed_actions.includes("edit");
  return (
    <div className="conflict">
      <h1>{t("edit_conflict.title")}</h1>
      <Notice kind="warning" title={title}>
        {last && <Time at={last.occurred_at} />}
        <p>{t(gone ? "edit_conflict.gone" : "edit_conflict.nothing_lost")}</p>
      </Notice>
      <Difference
        before={base}
        after={request}
        beforeLabel={t("conflict.seen", { version: base.version })}
        afterLabel={t("conflict.now", { version: request.version })}
      />
      {differs.map((name) => (
        <fieldset key={name} className="choose-side">
          <legend>{t(`field.${name}`)}</legend>
          {(["mine", "theirs"] as const).map((side) => (
            <label key={side} className={chosen[name] === side ? "chosen" : ""}>
              <input
                type="radio"
                name={name}
                checked={chosen[name] === side}
                onChange={() => setChosen({ ...chosen, [name]: side })}
              />
              <span className="side-name">{t(`edit_conflict.${side}`)}</span>
              <span dir="auto" className="written paragraphs">
                {(side === "mine" ? typed : theirs)[name] || t("edit_conflict.empty")}
                {name === "amount" && ` ${(side === "mine" ? typed : theirs).currency}`}
              </span>
            </label>
          ))}
        </fieldset>
      ))}
      <div className="actions end">
        {gone ? (
          <Button tone="primary" onClick={() => onGone(id)}>
            {t("conflict.look")}
          </Button>
        ) : (
          <Button tone="primary" onClick={() => onTake(request, merged())}>
            {t("edit_conflict.go_on")}
          </Button>
        )}
      </div>
    </div>
  );
}
