/** What stands around every view of an organization. */

import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { countsQuery, meQuery } from "../api/queries";
import type { Membership } from "../api/types";
import { useT } from "../i18n";
import { useKeys } from "../lib/keys";
import { OrganizationContext } from "../lib/organization";
import { useLive } from "../live/useLive";
import { Icon, type IconName } from "../ui/icons";
import { Loading } from "../ui/parts";
import { Failure } from "../ui/problems";
import { NotFound } from "./NotFound";

/** The views of administrators. */
export const ADMIN = [
  { to: "/o/$org/history", icon: "history", label: "view.history" },
  { to: "/o/$org/members", icon: "members", label: "view.members" },
  { to: "/o/$org/webhooks", icon: "webhooks", label: "view.webhooks" },
] as const;

const Organizations = lazy(() => import("./Menus").then((module) => ({ default: module.Organizations })));
const PersonMenu = lazy(() => import("./Menus").then((module) => ({ default: module.PersonMenu })));
const Help = lazy(() => import("./Help").then((module) => ({ default: module.Help })));

export function Shell() {
  const { org } = useParams({ from: "/o/$org" });
  const me = useQuery(meQuery);
  if (me.isPending) return <Loading />;
  if (me.isError) return <Failure error={me.error} retry={() => void me.refetch()} />;
  const membership = me.data.memberships.find((one) => one.organization_id === org);
  if (!membership?.is_active) return <NotFound />;
  return (
    <OrganizationContext value={membership}>
      <Frame membership={membership} memberships={me.data.memberships.filter((one) => one.is_active)} />
    </OrganizationContext>
  );
}

function Frame({ membership, memberships }: { membership: Membership; memberships: Membership[] }) {
  const t = useT();
  const org = membership.organization_id;
  const [help, setHelp] = useState(false);
  const navigate = useNavigate();
  const counts = useQuery(countsQuery(org)).data;
  const live = useLive(org);
  const go = (view: string) => () => void navigate({ to: "/o/$org/$view", params: { org, view } });
  useKeys({
    "?": () => setHelp(true),
    n: () => void navigate({ to: "/o/$org/write", params: { org } }),
    "1": membership.can_approve ? go("inbox") : undefined,
    "2": go("mine"),
    "3": go("all"),
  });
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <nav className="side" aria-label={t("nav")}>
        <div className="side-head">
          <img src="/icon.svg" alt="" width="30" height="30" />
          <Organization membership={membership} memberships={memberships} />
        </div>
        <Link to="/o/$org/write" params={{ org }} className="button primary new-request" aria-keyshortcuts="n">
          <Icon name="plus" />
          <span>{t("new_request")}</span>
        </Link>
        <ul className="side-links">
          {membership.can_approve && (
            <Item icon="inbox" label={t("view.inbox")} to="inbox" org={org} count={counts?.inbox.pending} strong />
          )}
          <Item icon="mine" label={t("view.mine")} to="mine" org={org} count={counts && open(counts.mine)} />
          <Item icon="all" label={t("view.all")} to="all" org={org} />
          <Page icon="months" label={t("view.months")} to="/o/$org/months" org={org} />
          {membership.is_admin &&
            ADMIN.map((page) => <Page key={page.to} {...page} label={t(page.label)} org={org} wide />)}
        </ul>
        <div className="side-foot">
          <Awaited className="person-menu" face={<PersonFace membership={membership} />}>
            {(open) => (
              <PersonMenu open={open} membership={membership} memberships={memberships} onHelp={() => setHelp(true)} />
            )}
          </Awaited>
        </div>
      </nav>
      <div className="content" id="content" tabIndex={-1}>
        {live === "lost" && (
          <p className="offline" role="status">
            <Icon name="offline" /> {t("offline")}
          </p>
        )}
        <Outlet />
      </div>
      {help && (
        <Suspense>
          <Help onClose={() => setHelp(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** What the person still has to do something about, or waits for. */
const open = (mine: { draft: number; pending: number; returned: number }) => mine.draft + mine.pending + mine.returned;

interface ItemProps {
  icon: IconName;
  label: string;
  org: string;
  count?: number;
  strong?: boolean;
}

function Inside({ icon, label, count, strong }: ItemProps) {
  const t = useT();
  return (
    <>
      <Icon name={icon} />
      <span className="side-label">{label}</span>
      {count !== undefined && count > 0 && (
        <span className={`count ${strong ? "strong" : ""}`}>
          {count > 999 ? "999+" : count}
          <span className="visually-hidden"> {t("requests_counted")}</span>
        </span>
      )}
    </>
  );
}

function Item(props: ItemProps & { to: "inbox" | "mine" | "all" }) {
  return (
    <li>
      <Link
        to="/o/$org/$view"
        params={{ org: props.org, view: props.to }}
        className="side-link"
        activeOptions={{ includeSearch: false }}
      >
        <Inside {...props} />
      </Link>
    </li>
  );
}

function Page({
  wide = false,
  ...props
}: ItemProps & {
  to: "/o/$org/months" | (typeof ADMIN)[number]["to"];
  /** Only where there is room for it: on a phone it is in the person's menu. */
  wide?: boolean;
}) {
  return (
    <li className={wide ? "where-wide" : undefined}>
      <Link to={props.to} params={{ org: props.org }} className="side-link" activeOptions={{ includeSearch: false }}>
        <Inside {...props} />
      </Link>
    </li>
  );
}

/** Stands for a menu until somebody reaches for it. */
function Awaited({
  className,
  face,
  children,
}: {
  className: string;
  face: ReactNode;
  children: (open: boolean) => ReactNode;
}) {
  const [wanted, setWanted] = useState(false);
  const stand = (
    <button
      type="button"
      className={`menu-trigger ${className}`}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
    >
      {face}
    </button>
  );
  return wanted ? <Suspense fallback={stand}>{children(true)}</Suspense> : stand;
}

function Organization({ membership, memberships }: { membership: Membership; memberships: Membership[] }) {
  if (memberships.length < 2) return <span className="organization">{membership.organization_name}</span>;
  const face = (
    <>
      <span>{membership.organization_name}</span>
      <Icon name="down" />
    </>
  );
  return (
    <Awaited className="organization" face={face}>
      {(open) => <Organizations open={open} membership={membership} memberships={memberships} />}
    </Awaited>
  );
}

export function PersonFace({ membership }: { membership: Membership }) {
  const t = useT();
  return (
    <>
      <span className="avatar" aria-hidden="true">
        {[...membership.display_name][0]}
      </span>
      <span className="person-menu-name" dir="auto">
        {membership.display_name}
      </span>
      <span className="visually-hidden">{t("person_menu")}</span>
      <Icon name="gear" />
    </>
  );
}
