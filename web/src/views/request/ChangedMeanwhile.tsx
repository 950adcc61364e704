/** The request changed while somebody was looking at it: said at once, before he acts on what is no longer there. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { historyQuery } from "../../api/queries";
import type { Approval } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { Button, Notice } from "../../ui/parts";
import { Difference } from "./Difference";
import { currentOf, saying } from "./standing";

export function ChangedMeanwhile({ seen, now, onLooked }: { seen: Approval; now: Approval; onLooked: () => void }) {
  const t = useT();
  const [shown, setShown] = useState(false);
  const history = useInfiniteQuery(historyQuery(now.organization_id, now.id));
  const last = history.data?.pages.flatMap((page) => page.items).find((entry) => entry.version === now.version);
  const current = currentOf(now, last);
  const title = current ? saying(current, t) : t("changed.title");
  return (
    <Notice
      kind="warning"
      title={<span dir="auto">{title}</span>}
      actions={
        <>
          <Button onClick={() => setShown(!shown)} aria-expanded={shown}>
            {t("changed.show")}
          </Button>
          <Button tone="quiet" onClick={onLooked}>
            {t("changed.seen")}
          </Button>
        </>
      }
    >
      {last && <Time at={last.occurred_at} />}
      {shown && (
        <Difference
          before={seen}
          after={now}
          beforeLabel={t("conflict.seen", { version: seen.version })}
          afterLabel={t("conflict.now", { version: now.version })}
        />
      )}
    </Notice>
  );
}
