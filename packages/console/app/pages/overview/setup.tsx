import { arrowRight, check } from "@payment-links/design/icons";
import { useState } from "react";
import { isFirstLoad, useOperationQuery } from "../../api/query.ts";
import { useAccount, useIsReady } from "../../frame/session.ts";
import { buildModeUrl, isOfMode, mode } from "../../mode.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import { type SetupStep, type SetupSteps, listSetupSteps } from "./setup-steps.ts";
import { texts } from "./texts.ts";

/** All accounts in this browser share this key, so that it does not reveal who signs in here. */
const hiddenKey = mode === "test" ? "set-up of test mode hidden" : "set-up hidden";

const stepTexts = mode === "test" ? { ...texts.steps, ...texts.testSteps } : texts.steps;

/** The state of the setup. `steps` is undefined until it is known. */
export type SetupState = {
  steps: SetupSteps | undefined;
  isFirstLoad: boolean;
  isHidden: boolean;
  toggleHidden: () => void;
};

/** Returns the setup steps of the account, and whether the user has hidden them. */
export const useSetup = (): SetupState => {
  const account = useAccount();
  const isReady = useIsReady();
  const [isHidden, setHidden] = useState(localStorage.getItem(hiddenKey) !== null);
  const wallets = useOperationQuery("listWallets", {});
  const keys = useOperationQuery("listApiKeys", {});
  const endpoints = useOperationQuery("listWebhookEndpoints", {});
  const links = useOperationQuery(
    "listOwnPaymentLinks",
    { query: { mode } },
    { isEnabled: isReady },
  );
  const toggleHidden = (): void => {
    if (isHidden) localStorage.removeItem(hiddenKey);
    else localStorage.setItem(hiddenKey, "1");
    setHidden(!isHidden);
  };
  const queries = isReady ? [wallets, keys, endpoints, links] : [wallets, keys, endpoints];
  const isLoaded = queries.every(({ data }) => data !== undefined);
  const steps = listSetupSteps({
    handle: account.handle !== null,
    wallet: wallets.data?.data.filter(isOfMode).some(({ isDefault }) => isDefault) ?? false,
    link: (links.data?.data.length ?? 0) > 0,
    key: keys.data?.data.some(isOfMode) ?? false,
    endpoint: endpoints.data?.data.some(isOfMode) ?? false,
  });
  return {
    steps: isLoaded ? steps : undefined,
    isFirstLoad: isFirstLoad(queries),
    isHidden,
    toggleHidden,
  };
};

type SetupProps = { setup: SetupState };

/** The setup steps of a shop. They are shown until all are done, or the user hides them. */
export const Setup = ({ setup: { steps, isHidden, toggleHidden } }: SetupProps) => {
  const { testModeAvailable, isTestReady } = useAccount();
  if (steps === undefined || steps.isShopDone || isHidden) return null;
  return (
    <Card title={texts.setup} actions={<HideButton onPress={toggleHidden} />}>
      <div className={styles["setupProgress"]}>
        <progress
          className={uiStyles["progressBar"]}
          aria-label={texts.setup}
          max={steps.shop.length}
          value={steps.doneCount}
        />
        <span className={uiStyles["quiet"]}>
          {texts.stepCount(steps.doneCount, steps.shop.length)}
        </span>
      </div>
      <ol className={styles["steps"]}>
        {steps.shop.map((step) => (
          <StepItem key={step.name} step={step} hasButton={step.isNext} />
        ))}
      </ol>
      {mode === "live" && testModeAvailable && (
        <p className={uiStyles["quiet"]}>
          {isTestReady ? texts.testModeIsReady : texts.testModeHint}{" "}
          <a href={buildModeUrl("test", "/")}>{texts.openTestMode}</a>
        </p>
      )}
    </Card>
  );
};

/** The optional steps of a shop with its own software. They come last. */
export const DeveloperSetup = ({ setup: { steps, isHidden, toggleHidden } }: SetupProps) => {
  if (steps === undefined || steps.isDeveloperDone || isHidden) return null;
  const actions = steps.isShopDone ? { actions: <HideButton onPress={toggleHidden} /> } : {};
  return (
    <Card title={texts.developers} {...actions}>
      <p className={uiStyles["quiet"]}>{texts.developersIntro}</p>
      <ul className={styles["steps"]}>
        {steps.developer.map((step) => (
          <StepItem key={step.name} step={step} hasButton={!step.isDone} />
        ))}
      </ul>
    </Card>
  );
};

const HideButton = ({ onPress }: { onPress: () => void }) => (
  <Button variant="quiet" onPress={onPress}>
    {texts.hideSteps}
  </Button>
);

const StepItem = ({
  step: { name, to, isDone, isNext },
  hasButton,
}: {
  step: SetupStep<keyof typeof texts.steps>;
  hasButton: boolean;
}) => (
  <li>
    <span className={styles["stepMark"]} data-done={isDone}>
      {isDone && <Icon node={check} size={14} />}
    </span>
    <span className={styles["stepText"]}>
      <strong>{stepTexts[name].title}</strong>
      <span className={uiStyles["quiet"]}>{isDone ? texts.done : stepTexts[name].description}</span>
    </span>
    {hasButton && (
      <ButtonLink to={to} variant={isNext ? "primary" : "plain"}>
        {stepTexts[name].action}
        <Icon node={arrowRight} />
      </ButtonLink>
    )}
  </li>
);
