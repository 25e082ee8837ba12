import "./tokens.css";
import "./icon.svg?url";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrowserRouter } from "react-router";
import { queryClient } from "./api/query.ts";
import { App } from "./app.tsx";
import { takeArrival } from "./ceremonies/arrival.ts";
import { reloadOnLostChunk } from "./frame/stale-tab.ts";
import { language } from "./ui/language.ts";
import { ignoreSecondClicks } from "./ui/second-clicks.ts";

const arrival = takeArrival();
reloadOnLostChunk();
ignoreSecondClicks();
document.documentElement.lang = language;
const root = document.querySelector("#console");
if (root === null) throw new Error("the page has no place for the console");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <BrowserRouter basename="/console">
        <App arrival={arrival} />
      </BrowserRouter>
    </QueryClientProvider>
  </StrictMode>,
);
