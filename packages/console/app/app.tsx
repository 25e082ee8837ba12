import type { ComponentType } from "react";
import { Route, Routes } from "react-router";
import type { InitialUrlParams } from "./ceremonies/initial-url-params.ts";
import { Banners } from "./frame/banners.tsx";
import { Frame } from "./frame/frame.tsx";
import { PresenceDialog } from "./frame/presence-dialog.tsx";
import { RequireSession } from "./frame/require-session.tsx";
import { createLazyComponent } from "./ui/lazy-component.tsx";
import { Card, Page } from "./ui/page.tsx";
import { texts } from "./ui/texts.ts";

/** All views. Each is loaded when it is first needed. */
const views: Readonly<Record<string, ComponentType>> = {
  "/": createLazyComponent(() => import("./pages/overview/overview.tsx")),
  "/links": createLazyComponent(() => import("./pages/links/links.tsx")),
  "/links/new": createLazyComponent(() => import("./pages/links/new-link.tsx")),
  "/links/:id": createLazyComponent(() => import("./pages/links/link-details.tsx")),
  "/deposits": createLazyComponent(() => import("./pages/deposits/deposits.tsx")),
  "/keys": createLazyComponent(() => import("./pages/keys/keys.tsx")),
  // The user enters its address, which `payment-links login` prints.
  "/command": createLazyComponent(() => import("./pages/command/command.tsx")),
  "/webhooks": createLazyComponent(() => import("./pages/webhooks/webhooks.tsx")),
  "/webhooks/:id": createLazyComponent(() => import("./pages/webhooks/endpoint-details.tsx")),
  "/developers": createLazyComponent(() => import("./pages/developers/developers.tsx")),
  "/account/:part?": createLazyComponent(() => import("./pages/account/account.tsx")),
  // For developers of the console. No view links to it.
  "/design": createLazyComponent(() => import("./pages/design/design.tsx")),
};

/** Renders the sign-in view for signed-out users, and otherwise the view that the URL selects. */
export const App = ({ initialUrlParams }: { initialUrlParams: InitialUrlParams }) => (
  <>
    <Banners />
    <RequireSession initialUrlParams={initialUrlParams}>
      <Frame>
        <Routes>
          {Object.entries(views).map(([path, View]) => (
            <Route key={path} path={path} element={<View />} />
          ))}
          <Route path="*" element={<NotFound />} />
        </Routes>
      </Frame>
      <PresenceDialog />
    </RequireSession>
  </>
);

const NotFound = () => (
  <Page title={texts.notFoundTitle}>
    <Card>
      <p>{texts.notFound}</p>
    </Card>
  </Page>
);
