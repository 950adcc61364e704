/** Short words about what was done, which go away by themselves. Nothing that must be read stands in them alone. */

import { Toast } from "@base-ui/react/toast";
import { useT } from "../i18n";
import { Icon } from "./icons";

const manager = Toast.createToastManager();

export function toast(title: string, description?: string): void {
  manager.add({ title, description, timeout: 6_000 });
}

function List() {
  const { toasts } = Toast.useToastManager();
  const t = useT();
  return toasts.map((one) => (
    <Toast.Root key={one.id} toast={one} className="toast">
      <Toast.Content className="toast-content">
        <Icon name="check" />
        <div>
          <Toast.Title className="toast-title" />
          <Toast.Description className="toast-description" dir="auto" />
        </div>
        <Toast.Close className="button quiet icon-only" aria-label={t("close")}>
          <Icon name="cross" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}

export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}
