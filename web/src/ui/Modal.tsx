/** Dialogs. They come with the first of them that somebody opens: the first view needs none. */

import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode, RefObject } from "react";
import { useT } from "../i18n";
import { Icon } from "./icons";

/** A dialog with a title. What it holds is there only while it is open. */
export function Modal({
  title,
  open = true,
  onClose,
  children,
  wide = false,
  focus,
}: {
  title: ReactNode;
  open?: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** What the focus begins at; the first control when left out. */
  focus?: RefObject<HTMLElement | null>;
}) {
  const t = useT();
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={`dialog ${wide ? "wide" : ""}`} initialFocus={focus}>
          <header>
            <Dialog.Title className="dialog-title">{title}</Dialog.Title>
            <Dialog.Close className="button quiet icon-only" aria-label={t("close")}>
              <Icon name="cross" />
            </Dialog.Close>
          </header>
          <div className="dialog-body">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
