import "@payment-links/design/tokens.css";
import "./base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { queryClient } from "./api/query.ts";
import { App } from "./app.tsx";
import { consumeInitialUrlParams, reloadOnSignInLink } from "./ceremonies/initial-url-params.ts";
import { reloadOnChunkLoadError } from "./frame/stale-tab.ts";
import { basePath } from "./mode.ts";
import { language } from "./ui/language.ts";
import { installDoubleClickFilter } from "./ui/double-clicks.ts";

const initialUrlParams = consumeInitialUrlParams();
reloadOnSignInLink();
reloadOnChunkLoadError();
installDoubleClickFilter();
document.documentElement.lang = language;
const root = document.querySelector("#console");
if (root === null) throw new Error("the page has no element with the id console");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <BrowserRouter basename={basePath}>
        <App initialUrlParams={initialUrlParams} />
      </BrowserRouter>
    </QueryClientProvider>
  </StrictMode>,
);
