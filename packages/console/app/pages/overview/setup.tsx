import { useState } from "react";
import { useCall } from "../../api/query.ts";
import { useAccount } from "../../frame/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
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

/** Of no account: it says nothing of whoever signs in by this browser. */
const hiddenKey = "set-up hidden";

/**
 * The steps from a new account to a shop that is paid, for as long as one is open. Whoever hides them
 * still sees that some are.
 */
export const Setup = () => {
  const account = useAccount();
  const [isHidden, setHidden] = useState(localStorage.getItem(hiddenKey) !== null);
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
  const isKnown =
    [wallets, keys, endpoints].every((query) => query.data !== undefined) &&
    !(account.isReady && links.isPending);
  if (!isKnown || Object.values(done).every(Boolean)) return null;
  const turn = (): void => {
    if (isHidden) localStorage.removeItem(hiddenKey);
    else localStorage.setItem(hiddenKey, "1");
    setHidden(!isHidden);
  };
  if (isHidden) {
    const openCount = Object.values(done).filter((isDone) => !isDone).length;
    return (
      <Card>
        <div className={`${uiStyles["row"]} ${uiStyles["spread"]}`}>
          <span>{texts.stepsOpen(openCount)}</span>
          <Button onPress={turn}>{texts.showSteps}</Button>
        </div>
      </Card>
    );
  }
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
      <div>
        <Button onPress={turn}>{texts.hideSteps}</Button>
      </div>
    </Card>
  );
};
