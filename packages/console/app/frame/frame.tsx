import type { ReactNode } from "react";
import { Link, NavLink, useLocation } from "react-router";
import { Action } from "../ui/form.tsx";
import styles from "./frame.module.css";
import { useAccount, useSignOut } from "./session.ts";
import { useFreshTab } from "./stale-tab.ts";
import { texts } from "./texts.ts";
import { ViewBoundary } from "./view-boundary.tsx";

const ways = [
  ["/", texts.overview],
  ["/links", texts.links],
  ["/keys", texts.keys],
  ["/webhooks", texts.webhooks],
  ["/account", texts.account],
] as const;

/** What stands around every view of a signed-in person. */
export const Frame = ({ children }: { children: ReactNode }) => {
  useFreshTab();
  const { pathname } = useLocation();
  const account = useAccount();
  const signOut = useSignOut();
  return (
    <div className={styles["frame"]}>
      <header className={styles["side"]}>
        <a className={styles["skip"]} href="#main">
          {texts.skip}
        </a>
        <p className={styles["product"]}>{texts.product}</p>
        <nav aria-label={texts.main}>
          <ul className={styles["nav"]}>
            {ways.map(([to, text]) => (
              <li key={to}>
                <NavLink to={to} end={to === "/"}>
                  {text}
                </NavLink>
              </li>
            ))}
          </ul>
        </nav>
        {!account.isReady && (
          <Link className={styles["missing"]} to="/">
            {texts.missing}
          </Link>
        )}
        <div className={styles["person"]}>
          <span title={account.username}>
            {texts.signedInAs} <bdi>{account.username}</bdi>
          </span>
          <Action onPress={signOut}>{texts.signOut}</Action>
        </div>
      </header>
      <main id="main" className={styles["main"]}>
        <ViewBoundary key={pathname}>{children}</ViewBoundary>
      </main>
    </div>
  );
};
