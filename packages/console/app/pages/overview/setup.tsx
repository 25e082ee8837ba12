import { useState } from "react";
import { useOperationQuery } from "../../api/query.ts";
import { useAccount } from "../../frame/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import { texts } from "./texts.ts";

const steps = [
  { name: "handle", to: "/account/profile", isRequired: true },
  { name: "wallet", to: "/account/wallets", isRequired: true },
  { name: "link", to: "/links/new", isRequired: false },
  { name: "key", to: "/keys", isRequired: false },
  { name: "endpoint", to: "/webhooks", isRequired: false },
] as const;

/** All accounts in this browser share this key, so that it does not reveal who signs in here. */
const hiddenKey = "set-up hidden";

/**
 * The setup steps of a new account. They are shown until all are done. When the user hides them,
 * the number of remaining steps stays visible.
 */
export const Setup = () => {
  const account = useAccount();
  const [isHidden, setHidden] = useState(localStorage.getItem(hiddenKey) !== null);
  const wallets = useOperationQuery("listWallets", {});
  const keys = useOperationQuery("listApiKeys", {});
  const endpoints = useOperationQuery("listWebhookEndpoints", {});
  const links = useOperationQuery(
    "listOwnPaymentLinks",
    { query: {} },
    { isEnabled: account.isReady },
  );
  const completedSteps = {
    handle: account.handle !== null,
    wallet: wallets.data?.data.some(({ isDefault }) => isDefault) ?? false,
    link: (links.data?.data.length ?? 0) > 0,
    key: (keys.data?.data.length ?? 0) > 0,
    endpoint: (endpoints.data?.data.length ?? 0) > 0,
  };
  const isLoaded =
    [wallets, keys, endpoints].every((query) => query.data !== undefined) &&
    !(account.isReady && links.isPending);
  if (!isLoaded || Object.values(completedSteps).every(Boolean)) return null;
  const toggleHidden = (): void => {
    if (isHidden) localStorage.removeItem(hiddenKey);
    else localStorage.setItem(hiddenKey, "1");
    setHidden(!isHidden);
  };
  if (isHidden) {
    const remainingCount = Object.values(completedSteps).filter((isDone) => !isDone).length;
    return (
      <Card>
        <div className={`${uiStyles["row"]} ${uiStyles["spread"]}`}>
          <span>{texts.remainingSteps(remainingCount)}</span>
          <Button onPress={toggleHidden}>{texts.showSteps}</Button>
        </div>
      </Card>
    );
  }
  return (
    <Card title={texts.setup}>
      <p className={uiStyles["quiet"]}>{texts.setupIntro}</p>
      <ol className={styles["steps"]}>
        {steps.map(({ name, to, isRequired }) => (
          <li key={name}>
            <span>
              {completedSteps[name] ? (
                <Badge tone="good">{texts.done}</Badge>
              ) : (
                <Badge tone={isRequired ? "bad" : "quiet"}>
                  {isRequired ? texts.requiredStep : texts.optionalStep}
                </Badge>
              )}
            </span>
            <span>{texts.steps[name]}</span>
            {completedSteps[name] ? (
              <span />
            ) : (
              <ButtonLink to={to}>{texts.stepActions[name]}</ButtonLink>
            )}
          </li>
        ))}
      </ol>
      <div>
        <Button onPress={toggleHidden}>{texts.hideSteps}</Button>
      </div>
    </Card>
  );
};
