/** What the page says, in the language that the person reads. The sentences stand in `messages/`. */

import i18next from "i18next";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type en from "../../messages/en.json";

export const LANGUAGES = { en: "English", ja: "日本語" } as const;
export type Language = keyof typeof LANGUAGES;

type Keys = keyof typeof en & string;
type WithoutPlural<K> = K extends `${infer Base}_one` | `${infer Base}_other` ? Base : K;
/** A sentence's name. */
export type Key = WithoutPlural<Keys>;

export type Translate = (key: Key, values?: Record<string, string | number>) => string;

const STORED = "ringi.language";
const FILES: Record<Language, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import("../../messages/en.json"),
  ja: () => import("../../messages/ja.json"),
};

const instance = i18next.createInstance();

/** The language that was chosen, or the first of the browser's that there are sentences in. */
function preferred(): Language {
  const stored = localStorage.getItem(STORED);
  const all = [stored ?? "", ...navigator.languages].map((tag) => tag.split("-")[0] ?? "");
  return (all.find((tag) => tag in LANGUAGES) as Language | undefined) ?? "en";
}

async function load(language: Language): Promise<void> {
  const { default: sentences } = await FILES[language]();
  if (!instance.isInitialized) {
    // React writes texts, never markup, so nothing is escaped twice.
    await instance.init({
      lng: language,
      keySeparator: false,
      nsSeparator: false,
      interpolation: { escapeValue: false },
    });
  }
  instance.addResourceBundle(language, "translation", sentences);
  await instance.changeLanguage(language);
  document.documentElement.lang = language;
}

interface Context {
  language: Language;
  t: Translate;
  choose(language: Language): void;
}

const LanguageContext = createContext<Context | undefined>(undefined);

/** Shows its children once the sentences are there. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>();
  const choose = (next: Language) => {
    void load(next).then(() => setLanguage(next));
  };
  useEffect(() => {
    const first = preferred();
    void load(first).then(() => setLanguage(first));
  }, []);
  if (!language) return null;
  const t = instance.getFixedT(language) as unknown as Translate;
  const value: Context = {
    language,
    t,
    choose: (next) => {
      localStorage.setItem(STORED, next);
      choose(next);
    },
  };
  return <LanguageContext value={value}>{children}</LanguageContext>;
}

export function useLanguage(): Context {
  const context = useContext(LanguageContext);
  if (!context) throw new Error("outside the LanguageProvider");
  return context;
}

export function useT(): Translate {
  return useLanguage().t;
}

/** True for a key that there is a sentence for: codes of a newer server may have none yet. */
export function hasSentence(key: string): key is Key & string {
  return instance.exists(key);
}
