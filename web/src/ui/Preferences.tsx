/** Language, theme and keys: each person's own, kept in this browser. */

import { Menu } from "@base-ui/react/menu";
import { useState } from "react";
import { LANGUAGES, type Language, useLanguage } from "../i18n";
import { setKeys, useKeysOn } from "../lib/keys";
import { setTheme, type Theme, theme } from "../lib/theme";
import { Icon } from "./icons";

function Choice<V extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  label: string;
  value: V;
  options: readonly (readonly [V, string])[];
  onChoose(value: V): void;
}) {
  return (
    <Menu.Group className="menu-group">
      <Menu.GroupLabel className="menu-label">{label}</Menu.GroupLabel>
      <Menu.RadioGroup value={value} onValueChange={(next) => onChoose(next as V)}>
        {options.map(([option, text]) => (
          <Menu.RadioItem key={option} value={option} className="menu-item" closeOnClick={false}>
            <span className="menu-check">
              <Menu.RadioItemIndicator>
                <Icon name="check" />
              </Menu.RadioItemIndicator>
            </span>
            {text}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </Menu.Group>
  );
}

/** The part of the person's menu that is about how the page looks. */
export function PreferenceItems() {
  const { language, t, choose } = useLanguage();
  const [chosen, setChosen] = useState<Theme>(theme);
  const keys = useKeysOn();
  return (
    <>
      <Choice
        label={t("language")}
        value={language}
        options={Object.entries(LANGUAGES) as [Language, string][]}
        onChoose={choose}
      />
      <Choice
        label={t("theme")}
        value={chosen}
        options={(["system", "light", "dark"] as const).map((one) => [one, t(`theme.${one}`)] as const)}
        onChoose={(next) => {
          setTheme(next);
          setChosen(next);
        }}
      />
      <Choice
        label={t("keys")}
        value={keys ? "on" : "off"}
        options={[
          ["on", t("keys.on")],
          ["off", t("keys.off")],
        ]}
        onChoose={(next) => setKeys(next === "on")}
      />
    </>
  );
}
