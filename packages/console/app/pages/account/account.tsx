import type { ComponentType } from "react";
import { Link, Navigate, useParams } from "react-router";
import { onDemand } from "../../ui/on-demand.tsx";
import { Page } from "../../ui/page.tsx";
import styles from "./account.module.css";
import { texts } from "./texts.ts";

const parts: Readonly<Record<string, ComponentType>> = {
  profile: onDemand(() => import("./profile.tsx")),
  wallets: onDemand(() => import("./wallets.tsx")),
  "sign-in": onDemand(() => import("./ways-in.tsx")),
  sessions: onDemand(() => import("./sessions.tsx")),
  log: onDemand(() => import("./audit-log.tsx")),
};

/** The account, part by part. */
const Account = () => {
  const { part = "profile" } = useParams();
  const Part = parts[part];
  if (Part === undefined) return <Navigate to="/account/profile" replace />;
  return (
    <Page title={texts.title}>
      <nav aria-label={texts.title}>
        <ul className={styles["parts"]}>
          {Object.entries(texts.parts).map(([name, text]) => (
            <li key={name}>
              <Link to={`/account/${name}`} {...(name === part ? { "aria-current": "page" } : {})}>
                {text}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Part />
    </Page>
  );
};
export default Account;
