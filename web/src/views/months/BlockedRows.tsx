/** The rows that stand in the way of a month, and what can be done about each. */

import { useState } from "react";
import type { Closing } from "../../api/types";
import { hasSentence, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { Button, Notice, Written } from "../../ui/parts";
import { Table } from "../../ui/Table";
import { CorrectCharge } from "./CorrectCharge";
import { Exclude } from "./Exclude";

export function BlockedRows({ closing }: { closing: Closing }) {
  const t = useT();
  const [doing, setDoing] = useState<{ what: "correct" | "exclude"; chargeId: string }>();
  const end = () => setDoing(undefined);
  return (
    <>
      <Notice kind="warning" title={t("closing.blocked", { count: closing.blocked_count })}>
        <p>{t("closing.blocked_why")}</p>
        {closing.finished_at && <Time at={closing.finished_at} />}
      </Notice>
      <Table columns={[t("closing.charge"), t("closing.why")]} actions narrow="cards">
        {closing.blocked.map(({ charge_id: chargeId, code, detail }) => {
          const key = `blocked.${code}`;
          return (
            <tr key={chargeId}>
              <th scope="row" className="mono">
                {chargeId}
              </th>
              <td className="whole">
                {hasSentence(key) && <p>{t(key)}</p>}
                <Written className="muted">{detail}</Written>
              </td>
              <td className="whole">
                <div className="actions">
                  <Button icon="edit" onClick={() => setDoing({ what: "correct", chargeId })}>
                    {t("correct.open")}
                  </Button>
                  <Button onClick={() => setDoing({ what: "exclude", chargeId })}>{t("exclude.title")}</Button>
                </div>
              </td>
            </tr>
          );
        })}
      </Table>
      {doing?.what === "exclude" && <Exclude period={closing.period} chargeId={doing.chargeId} onClose={end} />}
      {doing?.what === "correct" && <CorrectCharge period={closing.period} chargeId={doing.chargeId} onClose={end} />}
    </>
  );
}
