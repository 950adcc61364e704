/** A button that asks once more, for what can't be taken back. Leaving it takes the first click back. */

import { type ReactNode, useState } from "react";
import type { IconName } from "./icons";
import { Button } from "./parts";

export function Twice({
  icon,
  disabled,
  sure: question,
  onSure,
  children,
}: {
  icon?: IconName;
  disabled: boolean;
  /** What stands on it after the first click. */
  sure: string;
  onSure: () => void;
  children: ReactNode;
}) {
  const [sure, setSure] = useState(false);
  return (
    <Button
      icon={icon}
      tone={sure ? "bad" : "quiet"}
      disabled={disabled}
      onClick={() => {
        if (sure) onSure();
        setSure(!sure);
      }}
      onBlur={() => setSure(false)}
    >
      {sure ? question : children}
    </Button>
  );
}
