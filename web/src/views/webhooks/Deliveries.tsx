/** The log: what was sent, and what came back. For the person who wonders why nothing arrives. */

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { More } from "../../ui/More";
import { Button, Empty, Loading, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { kindName } from "../history/names";
import { eventName } from "./Events";
import { deliveriesQuery } from "./queries";

export function Deliveries({ webhook, onReplay }: { webhook: Webhook; onReplay: (from: number) => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const log = useInfiniteQuery({ ...deliveriesQuery(org, webhook), placeholderData: keepPreviousData });
  if (log.isPending) return <Loading lines={4} />;
  if (!log.data) return <Failure error={log.error} retry={() => void log.refetch()} />;
  const all = log.data.pages.flatMap((page) => page.items);
  if (all.length === 0) return <Empty title={t("deliveries.none")} />;
  return (
    <>
      <Table columns={[t("history.when"), t("deliveries.event"), t("deliveries.result")]} actions narrow="wide">
        {all.map((one) => (
          <tr key={one.number}>
            <td>
              <Time at={one.attempted_at} />
            </td>
            <td>
              {kindName(one.event_type.split(".")[0] ?? "", t)}: {eventName(one.event_type, t)}
              <p className="hint">{t("deliveries.position", { position: one.position })}</p>
            </td>
            <td>
              <Result one={one} />
            </td>
            <td className="cell-actions">
              <Button
                tone="quiet"
                disabled={one.position < webhook.oldest_position}
                onClick={() => onReplay(one.position)}
              >
                {t("replay.here")}
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      <More query={log} />
    </>
  );
}

function Result({ one }: { one: WebhookDelivery }) {
  const { language, t } = useLanguage();
  const took = t("deliveries.took", { ms: one.duration_ms.toLocaleString(language) });
  return (
    <>
      <span className={`badge delivery-${one.result}`}>{t(`delivery.${one.result}`)}</span>{" "}
      <span className="muted">{[one.status, took].filter(Boolean).join(" · ")}</span>
      <details className="row-detail">
        <summary>{t("deliveries.details")}</summary>
        {one.error && <Written className="paragraphs">{one.error}</Written>}
        <p className="hint">{t(one.answer ? "deliveries.answer" : "deliveries.no_answer")}</p>
        {one.answer && <pre className="written">{one.answer}</pre>}
        <p className="hint mono">{one.event_id}</p>
      </details>
    </>
  );
}
