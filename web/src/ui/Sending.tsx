/** How a write that has no answer yet is getting on, with a way to stop. */

import type { Write } from "../api/write";
import { useT } from "../i18n";
import { Button, Notice } from "./parts";

// biome-ignore lint/suspicious/noExplicitAny: whatever is written
export function Sending({ write }: { write: Write<any> }) {
  const t = useT();
  if (!write.progress || write.progress === "sending") return null;
  return (
    <Notice kind="warning" actions={<Button onClick={write.cancel}>{t("sending.stop")}</Button>}>
      {t(write.progress === "offline" ? "sending.offline" : "sending.waiting")}
    </Notice>
  );
}
