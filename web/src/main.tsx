import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import { LanguageProvider } from "./i18n";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";
import "./styles/requests.css";
import "./styles/admin.css";
import "./styles/sign-in.css";
// Last: it says otherwise of what stands in the others.
import "./styles/narrow.css";
import { Gate } from "./views/Gate";

// The first view needs none.
const Toasts = lazy(() => import("./ui/toasts").then((module) => ({ default: module.Toasts })));

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <LanguageProvider>
            <Gate />
            <Suspense>
              <Toasts />
            </Suspense>
          </LanguageProvider>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
