/** The language, where there is no menu yet. */

import { LANGUAGES, type Language, useLanguage } from "../i18n";

export function LanguageMenu() {
  const { language, t, choose } = useLanguage();
  return (
    <label className="language">
      <span className="visually-hidden">{t("language")}</span>
      <select value={language} onChange={(event) => choose(event.target.value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
