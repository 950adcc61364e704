/** How a dialog that writes ends: what is still being sent, and the two ways out. Stands at the end of its form. */

import type { ReactNode } from "react";
import type { Write } from "../api/write";
import { useT } from "../i18n";
import { Button } from "./parts";
import { Sending } from "./Sending";

export function SendOrCancel({
  write,
  held = false,
  onCancel,
  children,
}: {
  // biome-ignore lint/suspicious/noExplicitAny: whatever is written
  write: Write<any>;
  /** Something else has to be done before it may be sent. */
  held?: boolean;
  onCancel: () => void;
  /** What sending is called. */
  children: ReactNode;
}) {
  const t = useT();
  return (
    <>
      <Sending write={write} />
      <div className="actions end">
        <Button tone="quiet" onClick={onCancel}>
          {t("cancel")}
        </Button>
        <Button type="submit" tone="primary" disabled={!!write.progress || held} focusableWhenDisabled>
          {children}
        </Button>
      </div>
    </>
  );
}
