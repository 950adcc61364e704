/** A list of requests, and beside it (on a phone: in its place) the one that is open. */

import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { countsQuery } from "../../api/queries";
import type { View } from "../../api/types";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { NotFound } from "../NotFound";
import { Filters } from "./Filters";
import { RequestList } from "./RequestList";

const VIEWS: readonly string[] = ["inbox", "mine", "all"];

export function RequestsView() {
  const { view } = useParams({ from: "/o/$org/$view" });
  return VIEWS.includes(view) ? <Requests view={view as View} /> : <NotFound />;
}

function Requests({ view }: { view: View }) {
  const t = useT();
  const org = useMembership().organization_id;
  const search = useSearch({ from: "/o/$org/$view" });
  const { id } = useParams({ strict: false });
  const navigate = useNavigate();
  const counts = useQuery(countsQuery(org)).data;
  const searchBox = useRef<HTMLInputElement>(null);
  // What is open is what the page is about.
  const Title = id ? "h2" : "h1";
  return (
    <main className={`requests ${id ? "with-request" : ""}`}>
      <section className="list-pane" aria-labelledby="list-title">
        <header className="list-head">
          <Title id="list-title">{t(`view.${view}`)}</Title>
          <Filters
            view={view}
            filters={search}
            counts={counts}
            searchBox={searchBox}
            onChange={(next) =>
              void navigate({ to: "/o/$org/$view", params: { org, view }, search: next, replace: true })
            }
          />
        </header>
        <RequestList
          key={`${view}/${JSON.stringify(search)}`}
          view={view}
          filters={search}
          openId={id}
          onSearch={() => searchBox.current?.focus()}
        />
      </section>
      <section className="detail-pane" aria-label={t("request.pane")}>
        {id ? <Outlet /> : <p className="choose">{t("request.choose")}</p>}
      </section>
    </main>
  );
}
