/** What this person is sent by mail in this organization. Each for himself; an administrator sees no other's. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, data } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queryClient } from "../../api/queries";
import type { OwnMail } from "../../api/types";
import { useWrite } from "../../api/write";
import { LANGUAGES, type Language, useLanguage, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { Button, Field, Loading, Notice } from "../../ui/parts";
import { Failure, violationSentence } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { toast } from "../../ui/toasts";
import { Flag } from "../people/rights";

const mailQuery = (org: string) =>
  queryOptions({
    queryKey: ["own-mail", org],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/me/mail", { params: { path: { org } }, signal })),
    // The link in the mail is followed in another window.
    refetchInterval: ({ state }) => (state.data?.address && !state.data.confirmed ? 5_000 : false),
  });

export function MailView() {
  const t = useT();
  const org = useMembership().organization_id;
  const mail = useQuery(mailQuery(org));
  return (
    <main className="view">
      <header className="view-head">
        <h1>{t("view.mail")}</h1>
      </header>
      {mail.isPending && <Loading lines={4} />}
      {mail.isError && !mail.data && <Failure error={mail.error} retry={() => void mail.refetch()} />}
      {mail.data && !mail.data.enabled && <Notice title={t("mail.off")}>{t("mail.off_why")}</Notice>}
      {mail.data?.enabled && (
        <>
          <Standing mail={mail.data} org={org} />
          <Wishes key={mail.data.address ?? ""} mail={mail.data} org={org} />
        </>
      )}
    </main>
  );
}

/** Whether mails reach anybody, and what to do where they do not. */
function Standing({ mail, org }: { mail: OwnMail; org: string }) {
  const t = useT();
  const again = useWrite<Record<string, never>, { data?: OwnMail; response: Response }>(
    (body, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/me/mail/confirmation", {
        params: { path: { org }, header: headers },
        body,
        signal,
      }),
    () => toast(t("mail.sent_again"), mail.address ?? ""),
  );
  if (!mail.address) return null;
  if (mail.refused_at) {
    return (
      <Notice kind="bad" title={t("mail.refused")}>
        {t("mail.refused_why")} <Time at={mail.refused_at} />
      </Notice>
    );
  }
  if (mail.confirmed) return null;
  return (
    <>
      {again.error !== undefined && <Failure error={again.error} />}
      <Notice
        kind="warning"
        title={t("mail.unconfirmed")}
        actions={
          <Button disabled={!!again.progress} focusableWhenDisabled onClick={() => void again.send({})}>
            {t("mail.send_again")}
          </Button>
        }
      >
        {t("mail.unconfirmed_why")}
      </Notice>
      <Sending write={again} />
    </>
  );
}

type Wish = Pick<OwnMail, "address" | "language" | "decisions" | "submissions" | "closings" | "jobs">;

function Wishes({ mail, org }: { mail: OwnMail; org: string }) {
  const { language, t } = useLanguage();
  const { can_approve, is_admin } = useMembership();
  const [wish, setWish] = useState<Wish>(() => ({
    address: mail.address,
    // Who never said what he reads reads this page.
    language: mail.address ? mail.language : language,
    decisions: mail.decisions,
    submissions: mail.submissions,
    closings: mail.closings,
    jobs: mail.jobs,
  }));
  const write = useWrite<Wish, { data?: OwnMail; response: Response }>(
    (body, { headers, signal }) =>
      api.PUT("/api/v1/organizations/{org}/me/mail", { params: { path: { org }, header: headers }, body, signal }),
    (now) => {
      queryClient.setQueryData(mailQuery(org).queryKey, now);
      toast(t("mail.saved"), now.address ?? t("mail.nowhere"));
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void write.send({ ...wish, address: wish.address?.trim() || null });
  };
  const broken = write.error instanceof ApiError ? write.error.problem.errors : undefined;
  const wrong = broken?.find((one) => one.pointer === "/address");
  const kinds = [
    "decisions",
    ...(can_approve ? (["submissions"] as const) : []),
    ...(is_admin ? (["closings", "jobs"] as const) : []),
  ] as const;
  return (
    <form className="form" onSubmit={submit}>
      {write.error !== undefined && !wrong && <Failure error={write.error} />}
      <Field
        label={t("mail.address")}
        hint={t("mail.address_hint")}
        problem={wrong && violationSentence(wrong.code, t)}
      >
        {(ids) => (
          <input
            {...ids}
            type="email"
            autoComplete="email"
            maxLength={254}
            value={wish.address ?? ""}
            onChange={(event) => setWish({ ...wish, address: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("mail.language")}>
        {(ids) => (
          <select
            {...ids}
            value={wish.language}
            onChange={(event) => setWish({ ...wish, language: event.target.value as Language })}
          >
            {Object.entries(LANGUAGES).map(([code, name]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kinds.map((kind) => (
        <Flag
          key={kind}
          label={t(`mail_kind.${kind}`)}
          hint={t(`mail_why.${kind}`)}
          on={wish[kind]}
          onChange={(on) => setWish({ ...wish, [kind]: on })}
        />
      ))}
      <Sending write={write} />
      <div className="actions end">
        <Button type="submit" tone="primary" disabled={!!write.progress} focusableWhenDisabled>
          {t("mail.save")}
        </Button>
      </div>
    </form>
  );
}
