/** The first thing that people see, and what asks them again when a token ran out. */

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { NoAnswer } from "../api/errors";
import { signInQuery } from "../api/queries";
import type { SignInPerson, SignInProvider } from "../api/types";
import { useT } from "../i18n";
import { LanguageMenu } from "../ui/LanguageMenu";
import { Button, Field, Loading, Notice } from "../ui/parts";
import { Failure } from "../ui/problems";
import { type Grant, rememberedWay, type Way } from "./session";
import { demoGrant, pastedGrant, resume } from "./ways";

export function SignInPage() {
  const t = useT();
  const again = useSignedInBefore();
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src="/icon.svg" alt="" width="56" height="56" />
        <h1>
          Ringi <span lang="ja">稟議</span>
        </h1>
        <p className="lead">{t("sign_in.lead")}</p>
        {again ? <Loading lines={2} /> : <Ways />}
      </div>
      <LanguageMenu />
    </main>
  );
}

/** After a reload: goes on as the same person, where nothing must be typed for that. True while it is trying. */
function useSignedInBefore(): boolean {
  const [way] = useState(rememberedWay);
  const [trying, setTrying] = useState(way?.kind === "demo");
  useEffect(() => {
    if (way?.kind !== "demo") return;
    demoGrant(way.userId)
      .then(resume)
      .catch(() => setTrying(false));
  }, [way]);
  return trying;
}

/** What can be chosen from; `only`: as the session that ran out was begun. */
export function Ways({ only }: { only?: Way }) {
  const t = useT();
  const ways = useQuery(signInQuery);
  const [error, setError] = useState<unknown>();
  const onGrant = (grant: Grant) => resume(grant).catch(setError);
  const show = (kind: Way["kind"]) => !only || only.kind === kind;
  if (ways.isPending) return <Loading lines={3} />;
  if (ways.isError) return <Failure error={ways.error} retry={() => void ways.refetch()} />;
  const { demo, provider } = ways.data;
  const people = demo?.filter((person) => only?.kind !== "demo" || person.user_id === only.userId);
  return (
    <>
      {error !== undefined && <Failure error={error} title={t("sign_in.failed")} />}
      {people && show("demo") && <People people={people} onGrant={onGrant} onError={setError} />}
      {provider && show("provider") && (
        <Provider provider={provider} beside={!!only} onGrant={onGrant} onError={setError} />
      )}
      {show("pasted") && <Pasted collapsed={!only && (!!demo || !!provider)} onGrant={onGrant} />}
    </>
  );
}

interface Part {
  onGrant(grant: Grant): Promise<void>;
  onError(error: unknown): void;
}

function People({ people, onGrant, onError }: { people: SignInPerson[] } & Part) {
  const t = useT();
  const [busy, setBusy] = useState(false);
  const choose = async (person: SignInPerson) => {
    setBusy(true);
    try {
      await onGrant(await demoGrant(person.user_id));
    } catch (error) {
      onError(error);
    }
    setBusy(false);
  };
  return (
    <section aria-labelledby="demo-people">
      <h2 id="demo-people">{t("sign_in.demo")}</h2>
      <ul className="people">
        {people.map((person) => (
          <li key={person.user_id}>
            <button type="button" className="person" disabled={busy} onClick={() => void choose(person)}>
              <span className="avatar" aria-hidden="true">
                {[...person.display_name][0]}
              </span>
              <span>
                <span className="person-name">{person.display_name}</span>
                <span className="person-role">
                  {t(person.is_admin ? "role.admin" : person.can_approve ? "role.approver" : "role.applicant")}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Provider({ provider, beside, onGrant, onError }: { provider: SignInProvider; beside: boolean } & Part) {
  const t = useT();
  const [waiting, setWaiting] = useState<AbortController>();
  const go = async () => {
    const controller = new AbortController();
    setWaiting(controller);
    try {
      const { leaveFor, signInBeside } = await import("./provider");
      if (beside) await onGrant(await signInBeside(provider, controller.signal));
      else await leaveFor(provider, location.pathname + location.search + location.hash);
    } catch (error) {
      setWaiting(undefined);
      if (!controller.signal.aborted) onError(error instanceof TypeError ? new NoAnswer("provider") : error);
    }
  };
  return (
    <section>
      <Button tone="primary" disabled={!!waiting && !beside} onClick={() => void go()} className="block">
        {t("sign_in.provider", { host: new URL(provider.issuer).host })}
      </Button>
    </section>
  );
}

function Pasted({ collapsed, onGrant }: { collapsed: boolean; onGrant: Part["onGrant"] }) {
  const t = useT();
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) void onGrant(pastedGrant(text)).then(() => setText(""));
  };
  return (
    <details open={!collapsed} className="pasted">
      <summary>{t("sign_in.token")}</summary>
      <form onSubmit={submit} autoComplete="off">
        <Field label={t("sign_in.token_label")} hint={t("sign_in.token_hint")}>
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              className="mono"
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" tone="primary" disabled={!text.trim()}>
          {t("sign_in.go")}
        </Button>
      </form>
    </details>
  );
}

/** `/callback`: where the provider sends people back to. */
export function Callback({ onArrived }: { onArrived: (to: string) => void }) {
  const t = useT();
  const [error, setError] = useState<unknown>();
  const ways = useQuery(signInQuery);
  const provider = ways.data?.provider;
  // The code in the address is good for one use.
  const begun = useRef(false);
  const arrived = useRef(onArrived);
  useEffect(() => {
    if (!provider || begun.current) return;
    begun.current = true;
    const address = new URL(location.href);
    history.replaceState(null, "", "/callback");
    import("./provider")
      .then(async ({ arrive, cameBack, handOver }) => {
        if (!cameBack(address.search)) return handOver(address);
        const { grant, returnTo } = await arrive(provider, address);
        await resume(grant);
        arrived.current(returnTo);
      })
      .catch(setError);
  }, [provider]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        {error === undefined && !ways.isError ? (
          <Loading lines={2} />
        ) : (
          <Notice kind="bad" title={t("sign_in.failed")} actions={<a href="/">{t("sign_in.start")}</a>}>
            {t("sign_in.failed_why")}
          </Notice>
        )}
      </div>
    </main>
  );
}
