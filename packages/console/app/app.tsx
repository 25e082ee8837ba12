import type { ComponentType } from "react";
import { Route, Routes } from "react-router";
import type { Arrival } from "./ceremonies/arrival.ts";
import { Banners } from "./frame/banners.tsx";
import { Frame } from "./frame/frame.tsx";
import { PresenceDialog } from "./frame/presence-dialog.tsx";
import { SessionGate } from "./frame/session-gate.tsx";
import { onDemand } from "./ui/on-demand.tsx";
import { Card, Page } from "./ui/page.tsx";
import { texts } from "./ui/texts.ts";

/** Every view, each fetched when it is first wanted. */
const views: Readonly<Record<string, ComponentType>> = {
  "/": onDemand(() => import("./pages/overview/overview.tsx")),
  "/links": onDemand(() => import("./pages/links/links.tsx")),
  "/links/new": onDemand(() => import("./pages/links/new-link.tsx")),
  "/links/:id": onDemand(() => import("./pages/links/one-link.tsx")),
  "/deposits": onDemand(() => import("./pages/deposits/deposits.tsx")),
  "/keys": onDemand(() => import("./pages/keys/keys.tsx")),
  "/webhooks": onDemand(() => import("./pages/webhooks/webhooks.tsx")),
  "/webhooks/:id": onDemand(() => import("./pages/webhooks/one-endpoint.tsx")),
  "/account/:part?": onDemand(() => import("./pages/account/account.tsx")),
};

/** The console: whoever is not signed in gets the way in, everybody else the view of the address. */
export const App = ({ arrival }: { arrival: Arrival }) => (
  <>
    <Banners />
    <SessionGate arrival={arrival}>
      <Frame>
        <Routes>
          {Object.entries(views).map(([path, View]) => (
            <Route key={path} path={path} element={<View />} />
          ))}
          <Route path="*" element={<Nowhere />} />
        </Routes>
      </Frame>
      <PresenceDialog />
    </SessionGate>
  </>
);

const Nowhere = () => (
  <Page title={texts.nowhere}>
    <Card>
      <p>{texts.notFound}</p>
    </Card>
  </Page>
);
