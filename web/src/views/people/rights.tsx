/** The name and the rights of a member, as fields. */

import { Switch } from "@base-ui/react/switch";
import { useId } from "react";
import { useT } from "../../i18n";
import { count, LIMITS, lineProblem } from "../../lib/text";
import { Field } from "../../ui/parts";
import { violationSentence } from "../../ui/problems";

export interface Person {
  display_name: string;
  is_active: boolean;
  can_approve: boolean;
  is_admin: boolean;
}

export function PersonFields<P extends Partial<Person> & { display_name: string }>({
  person,
  tried,
  onChange,
}: {
  person: P;
  tried: boolean;
  onChange: (person: P) => void;
}) {
  const t = useT();
  const problem = lineProblem(person.display_name, LIMITS.name);
  const flags = (["can_approve", "is_admin", "is_active"] as const).filter((flag) => person[flag] !== undefined);
  return (
    <>
      <Field
        label={t("field.name")}
        problem={
          problem && (tried || problem === "length") ? violationSentence(problem, t, { max: LIMITS.name }) : undefined
        }
        hint={t("characters", { count: count(person.display_name), max: LIMITS.name })}
      >
        {(ids) => (
          <input
            {...ids}
            type="text"
            dir="auto"
            autoComplete="off"
            value={person.display_name}
            onChange={(event) => onChange({ ...person, display_name: event.target.value })}
          />
        )}
      </Field>
      {flags.map((flag) => (
        <Flag
          key={flag}
          label={t(`flag.${flag}`)}
          hint={t(`flag.${flag}_why`)}
          on={person[flag] === true}
          onChange={(on) => onChange({ ...person, [flag]: on })}
        />
      ))}
    </>
  );
}

export function Flag({
  label,
  hint,
  on,
  onChange,
}: {
  label: string;
  hint: string;
  on: boolean;
  onChange: (on: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flag">
      <Switch.Root
        checked={on}
        onCheckedChange={onChange}
        className="switch"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-hint`}
      >
        <Switch.Thumb className="switch-thumb" />
      </Switch.Root>
      <div>
        <span id={`${id}-label`} className="flag-label">
          {label}
        </span>
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      </div>
    </div>
  );
}
