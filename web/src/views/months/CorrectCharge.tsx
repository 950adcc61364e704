/** Corrects a row that stands in the way of its month, on the version that was seen. */

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import { chargeQuery, queryClient } from "../../api/queries";
import type { Charge } from "../../api/types";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { CURRENCIES, decimalsOf, editable, parseAmount } from "../../lib/money";
import { useMembership } from "../../lib/organization";
import { LIMITS, paragraphsProblem, sendable } from "../../lib/text";
import { Changed } from "../../ui/Changed";
import { LongText } from "../../ui/LongText";
import { Modal } from "../../ui/Modal";
import { Field, Loading } from "../../ui/parts";
import { Failure, violationSentence } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { ChargeFacts } from "./ChargeFacts";

interface Props {
  period: string;
  chargeId: string;
  onClose: () => void;
}

export function CorrectCharge(props: Props) {
  const t = useT();
  const org = useMembership().organization_id;
  const charge = useQuery(chargeQuery(org, props.chargeId));
  return (
    <Modal title={t("correct.title")} onClose={props.onClose}>
      {charge.isPending && <Loading lines={3} />}
      {charge.isError && !charge.data && <Failure error={charge.error} retry={() => void charge.refetch()} />}
      {charge.data && <Form charge={charge.data} {...props} />}
    </Modal>
  );
}

function Form({ charge, period, onClose }: Props & { charge: Charge }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [seen, setSeen] = useState(charge);
  const [amount, setAmount] = useState(() => editable(charge.amount, charge.currency));
  const [currency, setCurrency] = useState(charge.currency);
  const [description, setDescription] = useState(charge.description ?? "");
  const [tried, setTried] = useState(false);
  const write = useWrite(
    (body: Pick<Charge, "amount" | "currency" | "occurred_at" | "version"> & { description: string | null }, keyed) =>
      api.PUT("/api/v1/organizations/{org}/charges/{charge}", {
        params: { path: { org, charge: charge.id }, header: keyed.headers },
        body,
        signal: keyed.signal,
      }),
    () => {
      for (const stale of ["closing", "statements"]) void queryClient.invalidateQueries({ queryKey: [stale, org] });
      toast(t("correct.done"));
      onClose();
    },
    () => void queryClient.invalidateQueries({ queryKey: ["closing", org, period] }),
  );
  const parsed = parseAmount(amount, currency, !!charge.reverses);
  const told = (pointer: string) =>
    write.error instanceof ApiError ? write.error.violations.find((one) => one.pointer === pointer)?.code : undefined;
  const values = { max: LIMITS.description, decimals: decimalsOf(currency), currency };
  const wrong = (code: string | undefined) => (code ? violationSentence(code, t, values) : undefined);
  const wrongDescription = paragraphsProblem(description, LIMITS.description);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if ("problem" in parsed || wrongDescription) return;
    const { occurred_at, version } = seen;
    const text = sendable(description);
    void write.send({ amount: parsed.amount, currency, description: text === "" ? null : text, occurred_at, version });
  };
  const now = write.error instanceof ApiError ? write.error.currentCharge : undefined;
  return (
    <form className="form" onSubmit={submit}>
      <ChargeFacts charge={seen} />
      {now ? (
        <Changed
          title={t("problem.charge_changed")}
          onLooked={() => {
            setSeen(now);
            write.clear();
          }}
        >
          <ChargeFacts charge={now} />
        </Changed>
      ) : (
        write.error !== undefined && <Failure error={write.error} />
      )}
      <div className="money-fields">
        <Field
          label={t("field.amount")}
          problem={wrong((tried && "problem" in parsed && parsed.problem) || told("/amount"))}
          hint={charge.reverses ? t("correct.reversal") : undefined}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              inputMode="decimal"
              autoComplete="off"
              value={amount}
              onChange={(event) => setAmount(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("field.currency")} problem={wrong(told("/currency"))}>
          {(ids) => (
            <select {...ids} value={currency} onChange={(event) => setCurrency(event.target.value)}>
              {CURRENCIES.map((code) => (
                <option key={code}>{code}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <LongText
        label={t("field.description")}
        limit={LIMITS.description}
        problem={wrong(wrongDescription ?? told("/description"))}
        value={description}
        onChange={setDescription}
      />
      <SendOrCancel write={write} held={!!now} onCancel={onClose}>
        {t("correct.go")}
      </SendOrCancel>
    </form>
  );
}
