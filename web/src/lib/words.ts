import { type Change, diffWordsWithSpace } from "diff";

/** How long a comparison may hold the page up, in milliseconds. */
const PATIENCE = 1_000;

/** Word by word, as the language has words; undefined when the texts have so little in common that it takes too long. */
export function words(before: string, after: string, language: string): Change[] | undefined {
  const intlSegmenter = new Intl.Segmenter(language, { granularity: "word" });
  return diffWordsWithSpace(before, after, { intlSegmenter, timeout: PATIENCE });
}
