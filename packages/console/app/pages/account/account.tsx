import type { ComponentType, ReactNode } from "react";
import { Link, Navigate, useParams } from "react-router";
import { useMissingPasskey } from "../../ceremonies/missing-passkey.ts";
import { texts as frameTexts } from "../../frame/texts.ts";
import { createLazyComponent } from "../../ui/lazy-component.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
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
      <PasskeyNotice isLinked={section !== "sign-in"}>
        <Section />
      </PasskeyNotice>
    </Page>
  );
};
export default Account;

/**
 * Shows a notice above the section while a passkey is missing. The section waits for it, so that it
 * does not move.
 */
const PasskeyNotice = ({ isLinked, children }: { isLinked: boolean; children: ReactNode }) => {
  const { isMissing, isFirstLoad } = useMissingPasskey();
  if (isFirstLoad) return <Skeleton />;
  return (
    <>
      {isMissing && (
        <Notice>
          {frameTexts.passkeyMissing}{" "}
          {isLinked && <Link to="/account/sign-in">{frameTexts.addPasskey}</Link>}
        </Notice>
      )}
      {children}
    </>
  );
};
