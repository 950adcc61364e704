/** Two texts as one, with what went and what came marked word by word. */

import type { ReactNode } from "react";
import { useLanguage } from "../../i18n";
import { words } from "../../lib/words";

export function Words({ before, after, whole }: { before: string; after: string; whole: ReactNode }) {
  const { language } = useLanguage();
  const parts = words(before, after, language);
  if (!parts) return whole;
  return (
    <span className="written paragraphs">
      {parts.map((part, n) => {
        const Tag = part.added ? "ins" : part.removed ? "del" : "span";
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one comparison never move
        return <Tag key={n}>{part.value}</Tag>;
      })}
    </span>
  );
}
