/** One request: what it says, how it stands, who must act, what this person may do, and everything that happened. */

import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { requestQuery } from "../../api/queries";
import type { Action, Approval, View } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useKeys } from "../../lib/keys";
import { formatMoney } from "../../lib/money";
import { useMembership } from "../../lib/organization";
import { Icon, type IconName } from "../../ui/icons";
import { Button, Fact, Loading, Notice, StatusBadge, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import type { Decided } from "./ActionDialog";
import { ChangedMeanwhile } from "./ChangedMeanwhile";
import { Processing } from "./Processing";
import { Timeline } from "./Timeline";
import { Versions } from "./Versions";
import { WhyNot } from "./WhyNot";

const loadDialog = () => import("./ActionDialog");
const ActionDialog = lazy(() => loadDialog().then((module) => ({ default: module.ActionDialog })));

export function RequestView() {
  const { id } = useParams({ from: "/o/$org/$view/$id" });
  const org = useMembership().organization_id;
  const request = useQuery(requestQuery(org, id));
  const t = useT();
  if (request.isPending) return <Loading lines={6} />;
  if (!request.data) {
    return (
      <div className="detail">
        <BackLink />
        <Failure error={request.error} title={t("request.not_shown")} retry={() => void request.refetch()} />
      </div>
    );
  }
  return <Detail key={id} request={request.data} />;
}

function BackLink() {
  const t = useT();
  const { org, view } = useParams({ from: "/o/$org/$view" });
  const search = useSearch({ from: "/o/$org/$view" });
  return (
    <Link to="/o/$org/$view" params={{ org, view }} search={search} className="button quiet back">
      <Icon name="left" />
      <span>{t("back")}</span>
    </Link>
  );
}

function Detail({ request }: { request: Approval }) {
  const t = useT();
  const { language } = useLanguage();
  const navigate = useNavigate();
  const { view } = useParams({ from: "/o/$org/$view" });
  const search = useSearch({ from: "/o/$org/$view" });
  const asked = (useLocation().state as { act?: Action }).act;
  const heading = useRef<HTMLHeadingElement>(null);
  /** What the person looks at; newer than that is shown with what changed. */
  const [seen, setSeen] = useState(request);
  const [deciding, setDeciding] = useState<Action>();
  const org = request.organization_id;

  const may = (action: Action) => request.allowed_actions.includes(action);
  const begin = (action: Action) => () => {
    if (!may(action)) return;
    if (action === "edit") void navigate({ to: "/o/$org/write", params: { org }, search: { id: request.id } });
    else setDeciding(action);
  };
  const back = () => void navigate({ to: "/o/$org/$view", params: { org, view }, search });
  useKeys({ a: begin("approve"), r: begin("reject"), s: begin("send_back"), e: begin("edit"), Escape: back, u: back });
  const begun = useRef(false);
  useEffect(() => {
    // Who looks at a request will mostly act on it.
    loadDialog().catch(() => undefined);
  }, []);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    // A key that was pressed in the list.
    if (begun.current || !asked) return;
    begun.current = true;
    if (request.allowed_actions.includes(asked)) setDeciding(asked);
  }, [asked, request.allowed_actions]);

  const decided: Decided = (next, looked) => {
    setDeciding(undefined);
    setSeen(next);
    if (looked) heading.current?.focus();
  };
  return (
    <article className="detail" aria-labelledby="request-title">
      <BackLink />
      {seen.version !== request.version && !deciding && (
        <ChangedMeanwhile seen={seen} now={request} onLooked={() => setSeen(request)} />
      )}
      <header className="detail-head">
        <div className="detail-status">
          <StatusBadge status={request.status} />
          <span className="version">{t("version", { version: request.version })}</span>
        </div>
        <h1 id="request-title" ref={heading} tabIndex={-1} dir="auto">
          {request.title}
        </h1>
        {request.amount !== null && request.currency !== null && (
          <p className="amount">{formatMoney(request.amount, request.currency, language)}</p>
        )}
        <Actions request={request} view={view as View} onAct={(action) => begin(action)()} />
      </header>
      <Standing request={request} />
      {request.description !== "" && (
        <section className="description" aria-label={t("field.description")}>
          <Written className="paragraphs">{request.description}</Written>
        </section>
      )}
      <Facts request={request} />
      <WhyNot request={request} />
      {request.status === "approved" && <Processing request={request} />}
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">{t("history")}</h2>
        <Timeline org={org} id={request.id} version={request.version} />
      </section>
      <Versions request={request} />
      {deciding && (
        <Suspense>
          <ActionDialog
            action={deciding}
            seen={seen}
            now={request}
            onDone={decided}
            onClose={() => setDeciding(undefined)}
          />
        </Suspense>
      )}
    </article>
  );
}

const LOOK: Record<
  Exclude<Action, "create">,
  { icon: IconName; tone: "primary" | "good" | "bad" | "plain" | "quiet"; key?: string }
> = {
  approve: { icon: "check", tone: "good", key: "a" },
  reject: { icon: "cross", tone: "bad", key: "r" },
  send_back: { icon: "back", tone: "plain", key: "s" },
  submit: { icon: "send", tone: "primary" },
  edit: { icon: "edit", tone: "plain", key: "e" },
  withdraw: { icon: "withdraw", tone: "quiet" },
};
const ORDER = ["approve", "send_back", "reject", "submit", "edit", "withdraw"] as const;

/** What the server says that this person may do now, and nothing else. */
function Actions({ request, onAct }: { request: Approval; view: View; onAct: (action: Action) => void }) {
  const t = useT();
  const allowed = ORDER.filter((action) => request.allowed_actions.includes(action));
  if (allowed.length === 0) return null;
  return (
    <div className="actions sticky" role="group" aria-label={t("actions")}>
      {allowed.map((action) => (
        <Button
          key={action}
          tone={LOOK[action].tone}
          icon={LOOK[action].icon}
          keyHint={LOOK[action].key}
          onClick={() => onAct(action)}
        >
          {t(`act.${action}`)}
        </Button>
      ))}
    </div>
  );
}

/** How it stands, and whose turn it is. */
function Standing({ request }: { request: Approval }) {
  const { language, t } = useLanguage();
  const { waiting_for: waiting } = request;
  if (request.status === "pending" && waiting) {
    const names = waiting.members.map((member) => member.display_name);
    const more = waiting.count - names.length;
    return (
      <Notice kind={waiting.count === 0 ? "warning" : "info"} title={t("waiting.title")}>
        {waiting.count === 0 ? (
          t("waiting.nobody")
        ) : (
          <span dir="auto">
            {new Intl.ListFormat(language, { type: "disjunction" }).format(names)}
            {more > 0 && ` ${t("waiting.and_more", { count: more })}`}
          </span>
        )}
      </Notice>
    );
  }
  const kind = request.status === "approved" ? "good" : request.status === "rejected" ? "bad" : "warning";
  if (request.decision_reason === null || !["approved", "rejected", "returned"].includes(request.status)) return null;
  return (
    <div className={`notice ${kind}`}>
      <p className="notice-title">{t(`reason.${request.status as "approved" | "rejected" | "returned"}`)}</p>
      <Written className="paragraphs">{request.decision_reason}</Written>
    </div>
  );
}

function Facts({ request }: { request: Approval }) {
  const t = useT();
  return (
    <dl className="facts">
      <Fact label={t("field.applicant")}>{request.applicant_name}</Fact>
      <Fact label={t("field.created_at")}>
        <Time at={request.created_at} />
      </Fact>
      {request.submitted_at && (
        <Fact label={t("field.submitted_at")}>
          <Time at={request.submitted_at} />
        </Fact>
      )}
      {request.decided_at && (
        <Fact label={t("field.decided_at")}>
          <Time at={request.decided_at} />
        </Fact>
      )}
    </dl>
  );
}
