import markUrl from "@payment-links/design/icon.svg";
import { menu } from "@payment-links/design/icons";
import { type ReactNode, useId, useRef } from "react";
import { Link, NavLink, useLocation } from "react-router";
import { mode } from "../mode.ts";
import { Icon } from "../ui/icon.tsx";
import { AccountMenu } from "./account-menu.tsx";
import styles from "./frame.module.css";
import { ModeSwitch, TestModeBanner } from "./mode-switch.tsx";
import { navigationItems } from "./navigation-items.ts";
import { Search } from "./search.tsx";
import { useAccount, useIsReady } from "./session.ts";
import { useReloadWhenOutdated } from "./stale-tab.ts";
import { texts } from "./texts.ts";
import { ViewErrorBoundary } from "./view-error-boundary.tsx";

/** The layout around every view of a signed-in user. */
export const Frame = ({ children }: { children: ReactNode }) => {
  useReloadWhenOutdated();
  const { pathname } = useLocation();
  const navigationId = useId();
  return (
    <div className={styles["frame"]} data-mode={mode}>
      <header className={styles["header"]}>
        <div className={styles["bar"]}>
          <a className={styles["skip"]} href="#main">
            {texts.skipToContent}
          </a>
          <button
            className={styles["navigationButton"]}
            type="button"
            popoverTarget={navigationId}
            aria-label={texts.openNavigation}
          >
            <Icon node={menu} size={20} />
          </button>
          <Link className={styles["brand"]} to="/" aria-label={texts.product}>
            <img src={markUrl} alt="" width="24" height="24" />
            <span>{texts.product}</span>
          </Link>
          <Search />
          <AccountMenu />
        </div>
        {mode === "test" && <TestModeBanner />}
      </header>
      <Navigation id={navigationId} />
      <main id="main" className={styles["main"]}>
        <ViewErrorBoundary key={pathname}>{children}</ViewErrorBoundary>
      </main>
    </div>
  );
};

/** The main navigation: a sidebar, or on narrow screens a popover. */
const Navigation = ({ id }: { id: string }) => {
  const { testModeAvailable } = useAccount();
  const isReady = useIsReady();
  const popover = useRef<HTMLElement>(null);
  const close = () => popover.current?.hidePopover();
  return (
    <nav
      ref={popover}
      id={id}
      popover="auto"
      className={styles["nav"]}
      aria-label={texts.mainNavigation}
    >
      <ul>
        {navigationItems.map(({ to, label, icon }) => (
          <li key={to}>
            <NavLink to={to} end={to === "/"} onClick={close}>
              <Icon node={icon} />
              {label}
            </NavLink>
          </li>
        ))}
      </ul>
      {!isReady && (
        <Link className={styles["missing"]} to="/" onClick={close}>
          {texts.setupIncomplete}
        </Link>
      )}
      {(testModeAvailable || mode === "test") && <ModeSwitch />}
    </nav>
  );
};
