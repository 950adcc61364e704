/** A text to take along. */

import { useState } from "react";
import { useT } from "../i18n";
import { Button } from "./parts";

export function Copyable({ label, text }: { label: string; text: string }) {
  const t = useT();
  const [copied, setCopied] = useState(false);
  return (
    <div className="copyable">
      <input readOnly value={text} aria-label={label} className="mono" onFocus={(event) => event.target.select()} />
      <Button
        icon="copy"
        onClick={() => {
          // Where the clipboard may not be written to, the field is there to be selected.
          navigator.clipboard
            ?.writeText(text)
            .then(() => setCopied(true))
            .catch(() => undefined);
        }}
      >
        {t(copied ? "copied" : "copy")}
      </Button>
    </div>
  );
}
