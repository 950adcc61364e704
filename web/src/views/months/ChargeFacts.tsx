/** What a charge says, in the dialog that is about it: an id alone tells nobody anything. */

import type { Charge } from "../../api/types";
import { useLanguage } from "../../i18n";
import { Time } from "../../lib/dates";
import { formatMoney } from "../../lib/money";
import { Written } from "../../ui/parts";

export function ChargeFacts({ charge }: { charge: Charge }) {
  const { language, t } = useLanguage();
  return (
    <div className="judged">
      <Written className="judged-title">{charge.description || t("correct.nameless")}</Written>
      <p>
        <Time at={charge.occurred_at} /> · {formatMoney(charge.amount, charge.currency, language)}
        {charge.reverses && <> · {t("correct.reverses", { id: charge.reverses.slice(-8) })}</>}
      </p>
      <p className="mono">{charge.id}</p>
    </div>
  );
}
