/** Who is not signed in sees the sign-in page; everybody else the page itself, also while his token is being renewed. */

import { RouterProvider } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { queryClient } from "../api/queries";
import { Callback, SignInPage } from "../auth/SignIn";
import { session } from "../auth/session";
import { makeRouter } from "../router";

const SignInAgain = lazy(() => import("../auth/SignInAgain").then((module) => ({ default: module.SignInAgain })));

export function Gate() {
  const state = useSyncExternalStore(session.subscribe, session.state);
  const signedOut = state.phase === "out";
  const [calledBack, setCalledBack] = useState(location.pathname === "/callback");
  useEffect(() => {
    // What one person saw must not be there for the next.
    if (signedOut) queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "sign-in" });
  }, [signedOut]);
  if (calledBack) {
    return (
      <Callback
        onArrived={(to) => {
          history.replaceState(null, "", to);
          setCalledBack(false);
        }}
      />
    );
  }
  if (state.phase === "out") return <SignInPage />;
  return (
    <>
      <Page key={state.userId} />
      {state.phase === "expired" && (
        <Suspense>
          <SignInAgain way={state.way} />
        </Suspense>
      )}
    </>
  );
}

function Page() {
  const [router] = useState(makeRouter);
  return <RouterProvider router={router} />;
}
