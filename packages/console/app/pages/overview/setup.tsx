import { useCall } from "../../api/query.ts";
import { useAccount } from "../../frame/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import { texts } from "./texts.ts";

const steps = [
  { name: "handle", to: "/account/profile", isNeeded: true },
  { name: "wallet", to: "/account/wallets", isNeeded: true },
  { name: "link", to: "/links/new", isNeeded: false },
  { name: "key", to: "/keys", isNeeded: false },
  { name: "endpoint", to: "/webhooks", isNeeded: false },
] as const;

/** The steps from a new account to a shop that is paid; it stands for as long as one is missing. */
export const Setup = () => {
  const account = useAccount();
  const wallets = useCall("listWallets", {});
  const keys = useCall("listApiKeys", {});
  const endpoints = useCall("listWebhookEndpoints", {});
  const links = useCall("listOwnPaymentLinks", { query: {} }, { isWanted: account.isReady });
  const done = {
    handle: account.handle !== null,
    wallet: wallets.data?.data.some(({ isDefault }) => isDefault) ?? false,
    link: (links.data?.data.length ?? 0) > 0,
    key: (keys.data?.data.length ?? 0) > 0,
    endpoint: (endpoints.data?.data.length ?? 0) > 0,
  };
  const isKnown = [wallets, keys, endpoints].every((query) => query.data !== undefined);
  if (!isKnown || Object.values(done).every(Boolean)) return null;
  return (
    <Card title={texts.setup}>
      <p className={uiStyles["quiet"]}>{texts.setupText}</p>
      <ol className={styles["steps"]}>
        {steps.map(({ name, to, isNeeded }) => (
          <li key={name}>
            <span>
              {done[name] ? (
                <Badge tone="good">{texts.done}</Badge>
              ) : (
                <Badge tone={isNeeded ? "bad" : "quiet"}>
                  {isNeeded ? texts.missing : texts.optional}
                </Badge>
              )}
            </span>
            <span>{texts.steps[name]}</span>
            {done[name] ? <span /> : <ButtonLink to={to}>{texts.go[name]}</ButtonLink>}
          </li>
        ))}
      </ol>
    </Card>
  );
};
