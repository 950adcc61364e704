/** Which events a program is told of. */

import { useId } from "react";
import names from "../../../generated/names.json";
import { type Translate, useT } from "../../i18n";
import { Icon } from "../../ui/icons";
import { actionName, kindName } from "../history/names";

const KINDS = [...new Set(names.events.map((type) => split(type)[0]))];

function split(type: string): [string, string] {
  const at = type.indexOf(".");
  return [type.slice(0, at), type.slice(at + 1)];
}

export function eventName(type: string, t: Translate): string {
  const [kind, action] = split(type);
  return actionName(action, t, kind);
}

/** All of them, or some; `undefined` stands for all, and none of some is not acceptable. */
export function EventChoice({
  chosen,
  problem,
  onChange,
}: {
  chosen: readonly string[] | undefined;
  problem?: string;
  onChange: (chosen: string[] | undefined) => void;
}) {
  const t = useT();
  const id = useId();
  const toggle = (type: string) => {
    const has = chosen?.includes(type);
    // In the order of the document, whatever the order of the clicks.
    onChange(names.events.filter((one) => (one === type ? !has : chosen?.includes(one))));
  };
  return (
    <fieldset className={`event-choice ${problem ? "has-problem" : ""}`} aria-describedby={problem && `${id}-problem`}>
      <legend>{t("webhook.events")}</legend>
      <label>
        <input type="radio" name={id} checked={chosen === undefined} onChange={() => onChange(undefined)} />
        {t("webhook.all_events")}
      </label>
      <label>
        <input type="radio" name={id} checked={chosen !== undefined} onChange={() => onChange([])} />
        {t("webhook.some_events")}
      </label>
      {chosen &&
        KINDS.map((kind) => (
          <fieldset key={kind} className="event-kind">
            <legend>{kindName(kind, t)}</legend>
            {names.events
              .filter((type) => split(type)[0] === kind)
              .map((type) => (
                <label key={type}>
                  <input type="checkbox" checked={chosen.includes(type)} onChange={() => toggle(type)} />
                  {eventName(type, t)}
                </label>
              ))}
          </fieldset>
        ))}
      {problem && (
        <p className="problem-text" id={`${id}-problem`}>
          <Icon name="warning" />
          {problem}
        </p>
      )}
    </fieldset>
  );
}
