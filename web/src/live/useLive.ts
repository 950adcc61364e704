/** What others do is seen without asking: this keeps the open views as the server has them. */

import { useEffect, useState } from "react";
import { NoAnswer } from "../api/errors";
import { changed, countsQuery, queryClient } from "../api/queries";

export type Live = "live" | "lost";

/** How often is asked where nothing tells of changes. */
const EVERY = 15_000;

/** Asks for the counts again and again; when they move, everything else is asked for again, too. */
export function useLive(org: string): Live {
  const [live, setLive] = useState<Live>("live");
  useEffect(() => {
    let before = "";
    const look = async () => {
      if (document.visibilityState === "hidden") return;
      try {
        const counts = JSON.stringify(
          await queryClient.fetchQuery({ ...countsQuery(org), staleTime: 0, retry: false }),
        );
        setLive("live");
        if (before !== "" && before !== counts) changed(org);
        before = counts;
      } catch (error) {
        if (error instanceof NoAnswer) setLive("lost");
      }
    };
    void look();
    const timer = setInterval(() => void look(), EVERY);
    const lost = () => setLive("lost");
    window.addEventListener("online", look);
    window.addEventListener("offline", lost);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      window.removeEventListener("online", look);
      window.removeEventListener("offline", lost);
      document.removeEventListener("visibilitychange", look);
    };
  }, [org]);
  return live;
}
