/** Somebody changed the same thing since it was seen: what it is now, and the way to go on from there. What was typed stays. */

import type { ReactNode } from "react";
import { useT } from "../i18n";
import { Button, Notice } from "./parts";

export function Changed({ title, children, onLooked }: { title: string; children: ReactNode; onLooked: () => void }) {
  const t = useT();
  return (
    <Notice
      kind="warning"
      title={title}
      actions={
        <Button tone="primary" onClick={onLooked}>
          {t("conflict.look")}
        </Button>
      }
    >
      <p>{t("changed.now")}</p>
      {children}
      <p className="hint">{t("changed.kept")}</p>
    </Notice>
  );
}
