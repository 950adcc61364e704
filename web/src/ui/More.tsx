/** The way to the next page of a list, where there is one. */

import { useT } from "../i18n";
import { Button } from "./parts";

export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}) {
  const t = useT();
  if (!query.hasNextPage) return null;
  return (
    <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
      {t("more")}
    </Button>
  );
}
