import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import { LanguageProvider } from "./i18n";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/views.css";
import { Toasts } from "./ui/toasts";
import { Gate } from "./views/Gate";

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <LanguageProvider>
            <Gate />
            <Toasts />
          </LanguageProvider>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
