/** What the history speaks of, by name. A newer server may know more than this page has words for. */

import { hasSentence, type Translate } from "../../i18n";

/** Some actions have a name of their own with one kind: a member that is added is no webhook that is. */
export function actionName(action: string, t: Translate, kind?: string): string {
  const own = `action.${kind}.${action}`;
  if (hasSentence(own)) return t(own);
  const key = `action.${action}`;
  return hasSentence(key) ? t(key) : action;
}

export function kindName(kind: string, t: Translate): string {
  const key = `kind.${kind}`;
  return hasSentence(key) ? t(key) : kind;
}
