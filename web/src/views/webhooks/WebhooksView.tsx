/** The programs that are told of events, for administrators. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Webhook } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { More } from "../../ui/More";
import { Button, Empty, Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { howMany, NewWebhook } from "./EndpointDialog";
import { webhooksQuery } from "./queries";

export function WebhooksView() {
  const t = useT();
  const [making, setMaking] = useState(false);
  return (
    <main className="view">
      <header className="view-head">
        <h1>{t("view.webhooks")}</h1>
        <Button tone="primary" icon="plus" onClick={() => setMaking(true)}>
          {t("webhook.new")}
        </Button>
      </header>
      <p className="hint">{t("webhooks.what")}</p>
      <Webhooks />
      {making && <NewWebhook onClose={() => setMaking(false)} />}
    </main>
  );
}

function Webhooks() {
  const t = useT();
  const org = useMembership().organization_id;
  const webhooks = useInfiniteQuery(webhooksQuery(org));
  if (webhooks.isPending) return <Loading lines={3} />;
  if (!webhooks.data) return <Failure error={webhooks.error} retry={() => void webhooks.refetch()} />;
  const all = webhooks.data.pages.flatMap((page) => page.items);
  if (all.length === 0) return <Empty title={t("webhooks.none")} />;
  return (
    <>
      <Table
        columns={[t("webhook.url"), t("members.state"), t("webhook.events"), t("webhook.last_attempt")]}
        narrow="cards"
      >
        {all.map((webhook) => (
          <tr key={webhook.id}>
            <th scope="row">
              <Link to="/o/$org/webhooks/$id" params={{ org, id: webhook.id }} className="mono">
                {webhook.url}
              </Link>
            </th>
            <td className="state">
              <StateBadge webhook={webhook} />
            </td>
            <td>{howMany(webhook, t)}</td>
            <td>{webhook.last_attempt_at ? <Time at={webhook.last_attempt_at} /> : "–"}</td>
          </tr>
        ))}
      </Table>
      <More query={webhooks} />
    </>
  );
}

/** Enabled and failing is not the same as enabled, though it is still tried. */
export function StateBadge({ webhook }: { webhook: Webhook }) {
  const t = useT();
  const retried = webhook.state === "enabled" && webhook.failures > 0;
  const state = retried ? "retried" : webhook.state;
  return <span className={`badge webhook-${state}`}>{t(`webhook_state.${state}`)}</span>;
}
