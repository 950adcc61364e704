/** One program that is told of events: how far it has been told, why it fails, and what can be done. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/errors";
import { queryClient } from "../../api/queries";
import type { Webhook } from "../../api/types";
import { useWrite } from "../../api/write";
import { useLanguage, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { Icon } from "../../ui/icons";
import { Button, Fact, Loading, Notice, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { Twice } from "../../ui/Twice";
import { toast } from "../../ui/toasts";
import { Deliveries } from "./Deliveries";
import { ChangeWebhook } from "./EndpointDialog";
import { eventName } from "./Events";
import { learnWebhook, useWebhookWrite, webhookCalls, webhookQuery } from "./queries";
import { Replay } from "./Replay";
import { RotateSecret } from "./Secret";
import { StateBadge } from "./WebhooksView";

export function WebhookView() {
  const t = useT();
  const org = useMembership().organization_id;
  const { id } = useParams({ from: "/o/$org/webhooks/$id" });
  const webhook = useQuery(webhookQuery(org, id));
  return (
    <main className="view">
      <Link to="/o/$org/webhooks" params={{ org }} className="button quiet back always">
        <Icon name="left" />
        <span>{t("view.webhooks")}</span>
      </Link>
      {webhook.isPending && <Loading lines={5} />}
      {webhook.isError && !webhook.data && <Failure error={webhook.error} retry={() => void webhook.refetch()} />}
      {webhook.data && <Stands webhook={webhook.data} />}
    </main>
  );
}

type Asking = { what: "change" | "rotate" } | { what: "replay"; from: number };

function Stands({ webhook }: { webhook: Webhook }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [asking, setAsking] = useState<Asking>();
  const end = () => setAsking(undefined);
  return (
    <>
      <header className="view-head">
        <h1 className="mono wrap">{webhook.url}</h1>
        <StateBadge webhook={webhook} />
      </header>
      <Trouble webhook={webhook} />
      <Facts webhook={webhook} />
      <Actions key={webhook.id} org={org} webhook={webhook} onAsk={setAsking} />
      <section aria-labelledby="deliveries-title" className="log">
        <h2 id="deliveries-title">{t("deliveries.title")}</h2>
        <Deliveries webhook={webhook} onReplay={(from) => setAsking({ what: "replay", from })} />
      </section>
      {asking?.what === "change" && <ChangeWebhook webhook={webhook} onClose={end} />}
      {asking?.what === "rotate" && <RotateSecret webhook={webhook} onClose={end} />}
      {asking?.what === "replay" && <Replay webhook={webhook} from={asking.from} onClose={end} />}
    </>
  );
}

/** Why nothing arrives, and what helps. */
function Trouble({ webhook }: { webhook: Webhook }) {
  const t = useT();
  if (webhook.state === "enabled" && webhook.failures === 0) return null;
  const why = webhook.state === "enabled" ? "retried" : webhook.state;
  return (
    <Notice kind={why === "failing" ? "bad" : "warning"} title={t(`trouble.${why}`)}>
      {webhook.last_error && webhook.failures > 0 && <Written className="paragraphs">{webhook.last_error}</Written>}
      {webhook.failing_since && (
        <p>
          {t("trouble.since")} <Time at={webhook.failing_since} />
        </p>
      )}
      {why === "retried" && webhook.next_attempt_at && (
        <p>
          {t("trouble.next")} <Time at={webhook.next_attempt_at} />
        </p>
      )}
      <p className="hint">{t(`trouble.${why}_why`)}</p>
    </Notice>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { language, t } = useLanguage();
  const number = (n: number) => n.toLocaleString(language);
  const events = webhook.event_types.map((type) => eventName(type, t));
  return (
    <section className="tool">
      <dl className="facts">
        <Fact label={t("webhook.progress")}>
          {t("webhook.told", { position: number(webhook.position), newest: number(webhook.newest_position) })}
        </Fact>
        {webhook.last_attempt_at && (
          <Fact label={t("webhook.last_attempt")}>
            <Time at={webhook.last_attempt_at} /> {webhook.last_status}
          </Fact>
        )}
        <Fact label={t("webhook.created")}>
          <Time at={webhook.created_at} />
        </Fact>
        {webhook.old_secret_until && (
          <Fact label={t("webhook.old_secret")}>
            <Time at={webhook.old_secret_until} />
          </Fact>
        )}
        <Fact label={t("webhook.events")}>
          {events.length === 0
            ? t("webhook.all_events")
            : new Intl.ListFormat(language, { style: "narrow", type: "unit" }).format(events)}
        </Fact>
      </dl>
    </section>
  );
}

function Actions({ org, webhook, onAsk }: { org: string; webhook: Webhook; onAsk: (asking: Asking) => void }) {
  const t = useT();
  const navigate = useNavigate();
  const calls = webhookCalls(org, webhook.id);
  const enable = useWebhookWrite(org, calls.enable, () => toast(t("webhook.enabled")));
  const disable = useWebhookWrite(org, calls.disable, () => toast(t("webhook.disabled")));
  const gone = () => {
    queryClient.removeQueries({ queryKey: ["webhook", org, webhook.id] });
    void queryClient.invalidateQueries({ queryKey: ["webhooks", org] });
    toast(t("webhook.deleted"));
    void navigate({ to: "/o/$org/webhooks", params: { org } });
  };
  const remove = useWrite<{ version: number }, { data?: unknown; response: Response }>(calls.remove, gone, (error) => {
    if (!(error instanceof ApiError)) return;
    if (error.currentWebhook) learnWebhook(org, error.currentWebhook);
    // The answer to the first try was lost on its way.
    if (error.code === "not_found") gone();
  });
  const { version, state, failures } = webhook;
  const writes = [enable, disable, remove];
  const busy = writes.some((write) => write.progress);
  const failed = writes.find((write) => write.error !== undefined);
  return (
    <>
      <div className="actions">
        {(state !== "enabled" || failures > 0) && (
          <Button tone="primary" icon="play" disabled={busy} onClick={() => void enable.send({ version })}>
            {t(state === "enabled" ? "webhook.try_now" : "webhook.enable")}
          </Button>
        )}
        <Button icon="edit" onClick={() => onAsk({ what: "change" })}>
          {t("members.change")}
        </Button>
        <Button icon="history" onClick={() => onAsk({ what: "replay", from: webhook.position + 1 })}>
          {t("replay.title")}
        </Button>
        <Button icon="shield" onClick={() => onAsk({ what: "rotate" })}>
          {t("webhook.rotate")}
        </Button>
        {state === "enabled" && (
          <Button icon="stop" disabled={busy} onClick={() => void disable.send({ version })}>
            {t("webhook.disable")}
          </Button>
        )}
        <Twice
          icon="cross"
          sure={t("webhook.delete_sure")}
          disabled={busy}
          onSure={() => void remove.send({ version })}
        >
          {t("webhook.delete")}
        </Twice>
      </div>
      {failed && <Failure error={failed.error} />}
      {writes.map((write, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are always these three
        <Sending key={n} write={write} />
      ))}
    </>
  );
}
