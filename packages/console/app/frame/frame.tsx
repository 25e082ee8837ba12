import type { ReactNode } from "react";
import { Link, NavLink, useLocation } from "react-router";
import { AsyncButton } from "../ui/form.tsx";
import styles from "./frame.module.css";
import { useAccount, useSignOut } from "./session.ts";
import { useReloadWhenOutdated } from "./stale-tab.ts";
import { texts } from "./texts.ts";
import { ViewErrorBoundary } from "./view-error-boundary.tsx";

const navigationItems = [
  ["/", texts.overview],
  ["/links", texts.links],
  ["/keys", texts.keys],
  ["/webhooks", texts.webhooks],
  ["/account", texts.account],
] as const;

/** The layout around every view of a signed-in user. */
export const Frame = ({ children }: { children: ReactNode }) => {
  useReloadWhenOutdated();
  const { pathname } = useLocation();
  const account = useAccount();
  const signOut = useSignOut();
  return (
    <div className={styles["frame"]}>
      <header className={styles["side"]}>
        <a className={styles["skip"]} href="#main">
          {texts.skipToContent}
        </a>
        <p className={styles["product"]}>{texts.product}</p>
        <nav aria-label={texts.mainNavigation}>
          <ul className={styles["nav"]}>
            {navigationItems.map(([to, label]) => (
              <li key={to}>
                <NavLink to={to} end={to === "/"}>
                  {label}
                </NavLink>
              </li>
            ))}
          </ul>
        </nav>
        {!account.isReady && (
          <Link className={styles["missing"]} to="/">
            {texts.setupIncomplete}
          </Link>
        )}
        <div className={styles["person"]}>
          <span title={account.username}>
            {texts.signedInAs} <bdi>{account.username}</bdi>
          </span>
          <AsyncButton onPress={signOut}>{texts.signOut}</AsyncButton>
        </div>
      </header>
      <main id="main" className={styles["main"]}>
        <ViewErrorBoundary key={pathname}>{children}</ViewErrorBoundary>
      </main>
    </div>
  );
};
