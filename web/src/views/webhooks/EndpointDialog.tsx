/** An address and what it is told of: a new one, or a change of one that is there. */

import { type FormEvent, useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { Webhook } from "../../api/types";
import { useWrite, type Write } from "../../api/write";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { count, LIMITS } from "../../lib/text";
import { Changed } from "../../ui/Changed";
import { Modal } from "../../ui/Modal";
import { Field } from "../../ui/parts";
import { Failure, violationSentence } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { EventChoice } from "./Events";
import { learnWebhook, useWebhookWrite, webhookCalls } from "./queries";
import { SecretOnce } from "./Secret";

interface Content {
  url: string;
  event_types: Webhook["event_types"];
}

export function NewWebhook({ onClose }: { onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [made, setMade] = useState<Webhook>();
  const write = useWrite(
    (body: Content, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/webhooks", { params: { path: { org }, header: headers }, body, signal }),
    (webhook) => {
      learnWebhook(org, webhook);
      setMade(webhook);
    },
  );
  if (made) return <SecretOnce title={t("webhook.made")} secret={made.secret} onClose={onClose} />;
  return (
    <Modal title={t("webhook.new")} onClose={onClose}>
      <ContentForm write={write} onSend={(content) => void write.send(content)} onClose={onClose}>
        {write.error !== undefined && <Failure error={write.error} />}
      </ContentForm>
    </Modal>
  );
}

export function ChangeWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [version, setVersion] = useState(webhook.version);
  const write = useWebhookWrite(org, webhookCalls(org, webhook.id).change, () => {
    toast(t("webhook.changed"));
    onClose();
  });
  const now = write.error instanceof ApiError ? write.error.currentWebhook : undefined;
  return (
    <Modal title={t("webhook.change")} onClose={onClose}>
      <ContentForm
        before={webhook}
        write={write}
        held={!!now}
        onSend={(content) => void write.send({ ...content, version })}
        onClose={onClose}
      >
        {now ? (
          <Changed
            title={t("problem.webhook_changed")}
            onLooked={() => {
              setVersion(now.version);
              write.clear();
            }}
          >
            <p className="mono wrap">{now.url}</p>
            <p>
              {t(`webhook_state.${now.state}`)} · {howMany(now, t)}
            </p>
          </Changed>
        ) : (
          write.error !== undefined && <Failure error={write.error} />
        )}
      </ContentForm>
    </Modal>
  );
}

export function howMany({ event_types }: Webhook, t: ReturnType<typeof useT>): string {
  return event_types.length === 0
    ? t("webhook.all_events")
    : t("webhook.events_counted", { count: event_types.length });
}

function ContentForm({
  before,
  write,
  held,
  onSend,
  onClose,
  children,
}: {
  before?: Webhook;
  // biome-ignore lint/suspicious/noExplicitAny: whatever is written
  write: Write<any>;
  held?: boolean;
  onSend: (content: Content) => void;
  onClose: () => void;
  children: React.ReactNode;
}) {
  const t = useT();
  const [url, setUrl] = useState(before?.url ?? "");
  const [chosen, setChosen] = useState<string[] | undefined>(
    before && before.event_types.length > 0 ? before.event_types : undefined,
  );
  const [tried, setTried] = useState(false);
  const violations = write.error instanceof ApiError ? write.error.violations : [];
  const told = violations.find((one) => one.pointer === "/url")?.code;
  const wrongUrl = count(url) > LIMITS.url ? "length" : url.trim() === "" ? "required" : undefined;
  const shown = wrongUrl && (tried || wrongUrl === "length") ? wrongUrl : told;
  const noEvent = chosen?.length === 0;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // What is wrong with the address may be far above the button that sent it.
    if (told) field.current?.focus();
  }, [told]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrongUrl) field.current?.focus();
    if (!wrongUrl && !noEvent) onSend({ url: url.trim(), event_types: (chosen ?? []) as Webhook["event_types"] });
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {children}
      <Field
        label={t("webhook.url")}
        problem={shown && violationSentence(shown, t, { max: LIMITS.url })}
        hint={t("webhook.url_hint")}
      >
        {(ids) => (
          <input
            {...ids}
            ref={field}
            type="url"
            className="mono"
            autoComplete="off"
            spellCheck={false}
            value={url}
            onChange={(event) => {
              setUrl(event.target.value);
              // What was said about the address before is not said about this one.
              if (told) write.clear();
            }}
          />
        )}
      </Field>
      <EventChoice
        chosen={chosen}
        problem={tried && noEvent ? t("webhook.no_event") : undefined}
        onChange={setChosen}
      />
      <SendOrCancel write={write} held={held} onCancel={onClose}>
        {t(before ? "members.save" : "webhook.make")}
      </SendOrCancel>
    </form>
  );
}
