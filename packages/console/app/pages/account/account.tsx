import type { ComponentType } from "react";
import { Navigate, useParams } from "react-router";
import { createLazyComponent } from "../../ui/lazy-component.tsx";
import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { texts } from "./texts.ts";

const sections: Readonly<Record<string, ComponentType>> = {
  profile: createLazyComponent(() => import("./profile.tsx")),
  wallets: createLazyComponent(() => import("./wallets.tsx")),
  "sign-in": createLazyComponent(() => import("./sign-in-methods.tsx")),
  sessions: createLazyComponent(() => import("./sessions.tsx")),
  notifications: createLazyComponent(() => import("./notifications.tsx")),
  log: createLazyComponent(() => import("./audit-log.tsx")),
};

/** The account settings, one tab per section. */
const Account = () => {
  const { part: section = "profile" } = useParams();
  const Section = sections[section];
  if (Section === undefined) return <Navigate to="/account/profile" replace />;
  return (
    <Page title={texts.title}>
      <Tabs
        label={texts.title}
        tabs={Object.entries(texts.sections).map(([name, label]) => ({
          to: `/account/${name}`,
          label,
          isCurrent: name === section,
        }))}
      />
      <Section />
    </Page>
  );
};
export default Account;
