/** The form. What is typed is kept in this tab at every key, and a draft goes to the server by itself after a rest. */

import { useBlocker, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import { learn, queryClient, requestQuery } from "../../api/queries";
import type { Approval } from "../../api/types";
import { useWrite } from "../../api/write";
import { session } from "../../auth/session";
import { useLanguage } from "../../i18n";
import { drop, keep, kept } from "../../lib/kept";
import { useMembership } from "../../lib/organization";
import { Modal } from "../../ui/Modal";
import { Button, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { toast } from "../../ui/toasts";
import { type Content, type FieldName, type Problems, read, same, type Typed, typedOf } from "./content";
import { EditConflict } from "./EditConflict";
import { Fields } from "./Fields";
import { dueIn } from "./rhythm";

/** What the tab keeps: what was typed, and on which version. */
interface Kept {
  typed: Typed;
  version: number | undefined;
}

const CURRENCY = "ringi.currency";
const MADE_FROM_NEW = "new";

export function Editor({ request, onMade }: { request?: Approval; onMade: (request: Approval) => void }) {
  const { language, t } = useLanguage();
  const navigate = useNavigate();
  const org = useMembership().organization_id;
  const user = session.userId ?? "";
  const currency = localStorage.getItem(CURRENCY) ?? (language === "ja" ? "JPY" : "USD");

  const [base, setBase] = useState(request);
  const place = `edit/${org}/${base?.id ?? MADE_FROM_NEW}`;
  const [restored] = useState(() => kept<Kept>(user, place));
  const [typed, setTyped] = useState<Typed>(() => restored?.typed ?? typedOf(request, currency));
  /** The version that the person wrote on: an older one than the present makes a conflict, as it should. */
  const [version, setVersion] = useState(restored?.version ?? request?.version);
  const [touched, setTouched] = useState<ReadonlySet<FieldName>>(new Set());
  const [tried, setTried] = useState(false);
  const [conflict, setConflict] = useState(false);
  const [savedAt, setSavedAt] = useState<number>();
  const typing = useRef({ last: 0, first: 0 });
  const then = useRef<"stay" | "submit" | "leave">("stay");

  const meant = useMemo(() => read(typed), [typed]);
  const content = "content" in meant ? meant.content : undefined;
  const clean = same(
    content ?? { title: "\0", description: "", amount: null, currency: null },
    base ?? typedContent(typedOf(undefined, currency)),
  );
  const untouchedNew = !base && typed.title === "" && typed.description === "" && typed.amount === "";
  const dirty = !clean && !untouchedNew;

  const save = useWrite<Content & { version?: number }, { data?: Approval; response: Response }>(
    (body, { headers, signal }) => {
      const params = { path: { org }, header: headers };
      if (!base || version === undefined)
        return api.POST("/api/v1/organizations/{org}/requests", { params, body, signal });
      return api.PUT("/api/v1/organizations/{org}/requests/{id}", {
        params: { path: { org, id: base.id }, header: headers },
        body: { ...body, version },
        signal,
      });
    },
    (saved) => {
      drop(user, place);
      setBase(saved);
      setVersion(saved.version);
      setSavedAt(Date.now());
      learn(saved);
      if (!base) onMade(saved);
      const next = then.current;
      then.current = "stay";
      if (next === "submit") void submit.send({ id: saved.id, version: saved.version });
      if (next === "leave") leave(saved.id);
    },
    (error) => {
      then.current = "stay";
      if (error instanceof ApiError && error.current) setConflict(true);
    },
  );
  const submit = useWrite(
    ({ id, ...body }: { id: string; version: number }, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/requests/{id}/submit", {
        params: { path: { org, id }, header: headers },
        body,
        signal,
      }),
    (sent) => {
      drop(user, place);
      learn(sent);
      toast(t("done.submit"), sent.title);
      leave(sent.id);
    },
    (error) => {
      if (error instanceof ApiError && error.current) setConflict(true);
    },
  );
  const busy = !!save.progress || !!submit.progress;

  const leave = (id?: string) => {
    left.current = true;
    if (id) void navigate({ to: "/o/$org/$view/$id", params: { org, view: "mine", id } });
    else void navigate({ to: "/o/$org/$view", params: { org, view: "mine" } });
  };
  const left = useRef(false);

  const change = (name: FieldName, value: string) => {
    const next = { ...typed, [name]: value };
    setTyped(next);
    keep(user, place, { typed: next, version } satisfies Kept);
    if (name === "currency") localStorage.setItem(CURRENCY, value);
    const now = Date.now();
    typing.current = { last: now, first: dirty ? typing.current.first : now };
    save.clear();
  };

  // A draft is nobody else's yet. One that came back is looked at by others: its history is not filled with half sentences.
  const automatic = (!base || base.status === "draft") && !conflict && !busy && save.error === undefined;
  const saving = useRef(save.send);
  saving.current = save.send;
  useEffect(() => {
    if (!automatic || !dirty || !content || typing.current.last === 0) return;
    const { last, first } = typing.current;
    const timer = setTimeout(() => void saving.current(content), dueIn(Date.now(), last, first, savedAt));
    return () => clearTimeout(timer);
  }, [automatic, dirty, content, savedAt]);

  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => dirty && !left.current && next.routeId !== "/o/$org/write",
    enableBeforeUnload: () => dirty && !left.current,
    withResolver: true,
  });

  const finish = (what: "stay" | "submit" | "leave") => {
    setTried(true);
    if (!content) {
      focusFirst("problems" in meant ? meant.problems : {});
      return;
    }
    if (!dirty && base && version !== undefined) {
      if (what === "submit") void submit.send({ id: base.id, version });
      if (what === "leave") leave(base.id);
      return;
    }
    then.current = what;
    void save.send(content);
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    finish("submit");
  };

  const told =
    save.error instanceof ApiError ? save.error : submit.error instanceof ApiError ? submit.error : undefined;
  const problems: Problems = { ...("problems" in meant ? shown(meant.problems, touched, tried) : {}) };
  for (const violation of told?.violations ?? []) {
    const name = violation.pointer.slice(1) as FieldName;
    if (name in typed) problems[name] ??= violation.code;
  }
  const failure = conflict ? undefined : (save.error ?? submit.error);

  if (conflict && base) {
    return (
      <main className="view narrow">
        <EditConflict
          base={base}
          typed={typed}
          onTake={(now, merged) => {
            setBase(now);
            setVersion(now.version);
            setTyped(merged);
            keep(user, place, { typed: merged, version: now.version } satisfies Kept);
            save.clear();
            submit.clear();
            setConflict(false);
          }}
          onGone={(id) => {
            drop(user, place);
            leave(id);
          }}
        />
      </main>
    );
  }
  return (
    <main className="view narrow">
      <form className="form editor" onSubmit={onSubmit} noValidate aria-labelledby="write-title">
        <header className="view-head">
          <h1 id="write-title">{t(base ? "edit.title" : "new_request")}</h1>
          <p className="save-state" role="status">
            {stateOf()}
          </p>
        </header>
        {restored && dirty && savedAt === undefined && (
          <Notice
            kind="info"
            title={t("edit.restored")}
            actions={
              <Button
                tone="quiet"
                onClick={() => {
                  drop(user, place);
                  setTyped(typedOf(base, currency));
                  setVersion(base?.version);
                }}
              >
                {t("edit.discard")}
              </Button>
            }
          />
        )}
        {base?.status === "returned" && base.decision_reason !== null && (
          <Notice kind="warning" title={t("reason.returned")}>
            <span dir="auto" className="written paragraphs">
              {base.decision_reason}
            </span>
          </Notice>
        )}
        <Fields
          typed={typed}
          problems={problems}
          onChange={change}
          onLeave={(name) => setTouched(new Set([...touched, name]))}
        />
        {failure !== undefined && <Failure error={failure} />}
        <Sending write={save} />
        <Sending write={submit} />
        <div className="actions">
          <Button type="submit" tone="primary" icon="send" disabled={busy} focusableWhenDisabled>
            {t("act.submit")}
          </Button>
          <Button onClick={() => finish("stay")} disabled={busy || !dirty} focusableWhenDisabled>
            {t("edit.save")}
          </Button>
          <Button tone="quiet" onClick={() => leave(base?.id)}>
            {t("back")}
          </Button>
        </div>
      </form>
      {blocker.status === "blocked" && (
        <Modal title={t("guard.title")} onClose={blocker.reset}>
          <p>{t("guard.why")}</p>
          <div className="actions end">
            <Button tone="quiet" onClick={blocker.reset}>
              {t("guard.stay")}
            </Button>
            <Button
              tone="bad"
              onClick={() => {
                drop(user, place);
                blocker.proceed();
              }}
            >
              {t("guard.discard")}
            </Button>
            <Button tone="primary" onClick={blocker.proceed}>
              {t("guard.keep")}
            </Button>
          </div>
        </Modal>
      )}
    </main>
  );

  function stateOf(): string {
    if (save.progress === "sending") return t("save.saving");
    if (!dirty) return base ? t("save.saved") : "";
    return t(content ? "save.unsaved" : "save.invalid");
  }
}

const typedContent = (typed: Typed): Content => ({
  title: typed.title,
  description: typed.description,
  amount: null,
  currency: null,
});

/** A field that nobody has left yet is not found fault with. */
function shown(problems: Problems, touched: ReadonlySet<FieldName>, tried: boolean): Problems {
  const entries = Object.entries(problems).filter(
    ([name, code]) => tried || (touched.has(name as FieldName) && code !== "required") || code === "length",
  );
  return Object.fromEntries(entries);
}

function focusFirst(problems: Problems): void {
  const first = (["title", "amount", "description"] as const).find((name) => problems[name]);
  if (first) document.getElementById(`edit-${first}`)?.focus();
}

/** As the server has it now, for the one whose version is old. */
export function fresh(org: string, id: string): Promise<Approval> {
  return queryClient.fetchQuery({ ...requestQuery(org, id), staleTime: 0 });
}
