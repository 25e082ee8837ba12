import type { ComponentType } from "react";
import { Link, Navigate, useParams } from "react-router";
import { createLazyComponent } from "../../ui/lazy-component.tsx";
import { Page } from "../../ui/page.tsx";
import styles from "./account.module.css";
import { texts } from "./texts.ts";

const sections: Readonly<Record<string, ComponentType>> = {
  profile: createLazyComponent(() => import("./profile.tsx")),
  wallets: createLazyComponent(() => import("./wallets.tsx")),
  "sign-in": createLazyComponent(() => import("./sign-in-methods.tsx")),
  sessions: createLazyComponent(() => import("./sessions.tsx")),
  log: createLazyComponent(() => import("./audit-log.tsx")),
};

/** The account settings, one tab per section. */
const Account = () => {
  const { part: section = "profile" } = useParams();
  const Section = sections[section];
  if (Section === undefined) return <Navigate to="/account/profile" replace />;
  return (
    <Page title={texts.title}>
      <nav aria-label={texts.title}>
        <ul className={styles["parts"]}>
          {Object.entries(texts.sections).map(([name, text]) => (
            <li key={name}>
              <Link
                to={`/account/${name}`}
                {...(name === section ? { "aria-current": "page" } : {})}
              >
                {text}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Section />
    </Page>
  );
};
export default Account;
