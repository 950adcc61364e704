/** Which keys there are. */

import { useT } from "../i18n";
import { Modal } from "../ui/Modal";

const KEYS = [
  ["j k", "help.move"],
  ["Enter", "help.open"],
  ["Esc", "help.back"],
  ["a", "help.approve"],
  ["r", "help.reject"],
  ["s", "help.send_back"],
  ["e", "help.edit"],
  ["n", "help.new"],
  ["/", "help.search"],
  ["1 2 3", "help.views"],
  ["?", "help.help"],
] as const;

export function Help({ onClose }: { onClose: () => void }) {
  const t = useT();
  return (
    <Modal title={t("help.title")} onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
      <p className="hint">{t("help.off")}</p>
    </Modal>
  );
}
