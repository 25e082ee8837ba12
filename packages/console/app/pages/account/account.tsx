import { type ComponentType, Suspense, lazy } from "react";
import { Link, Navigate, useParams } from "react-router";
import { Page } from "../../ui/page.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "./account.module.css";
import { texts } from "./texts.ts";

const parts: Readonly<Record<string, ComponentType>> = {
  profile: lazy(() => import("./profile.tsx")),
  wallets: lazy(() => import("./wallets.tsx")),
  "sign-in": lazy(() => import("./ways-in.tsx")),
  sessions: lazy(() => import("./sessions.tsx")),
  log: lazy(() => import("./audit-log.tsx")),
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
      <Suspense fallback={<p role="status">{uiTexts.loading}</p>}>
        <Part />
      </Suspense>
    </Page>
  );
};
export default Account;
