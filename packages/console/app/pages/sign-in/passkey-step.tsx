import { fingerprint } from "@payment-links/design/icons";
import { useEffect, useRef, useState } from "react";
import { isFirstLoad, useOperationMutation, useOperationQuery } from "../../api/query.ts";
import { declinePasskey, useMissingPasskey } from "../../ceremonies/missing-passkey.ts";
import { createPasskey } from "../../ceremonies/sign-with-passkey.ts";
import { PresenceDialog } from "../../frame/presence-dialog.tsx";
import { texts as frameTexts } from "../../frame/texts.ts";
import { Button } from "../../ui/button.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./sign-in.module.css";
import { texts } from "./texts.ts";

/**
 * Offers a passkey to a user whose account has no sign-in method of its own. Otherwise ends. An offer
 * stays until it is answered, although the cache is cleared after the account has changed: a click
 * on a button that is replaced meanwhile would be lost. The passkey is named after this device, so
 * the offer waits for the sessions, but only for one attempt to load them.
 */
export const PasskeyStep = ({ onDone }: { onDone: () => void }) => {
  const missingPasskey = useMissingPasskey();
  const sessions = useOperationQuery("listSessions", {});
  const [offeredName, setOfferedName] = useState<string>();
  if (missingPasskey.isMissing && !isFirstLoad([sessions]) && offeredName === undefined) {
    const device = sessions.data?.data.find(({ isCurrent }) => isCurrent)?.device ?? undefined;
    setOfferedName(device === undefined ? texts.passkeyName : texts.deviceName(device));
  }
  const isUnnecessary =
    !missingPasskey.isMissing && !missingPasskey.isFirstLoad && offeredName === undefined;
  useEffect(() => {
    if (isUnnecessary) onDone();
  }, [isUnnecessary, onDone]);
  return offeredName === undefined ? (
    <Skeleton />
  ) : (
    <PasskeyOffer name={offeredName} onDone={onDone} />
  );
};

/** The user can rename the passkey later. */
const PasskeyOffer = ({ name, onDone }: { name: string; onDone: () => void }) => {
  const addPasskey = useOperationMutation("addPasskey", "listPasskeys");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const add = async (): Promise<void> => {
    const passkey = await createPasskey();
    await addPasskey.mutateAsync({ body: { name, passkey } });
    onDone();
  };
  const decline = (): void => {
    declinePasskey();
    onDone();
  };
  return (
    <>
      <header className={styles["header"]}>
        <span className={uiStyles["emptyIcon"]}>
          <Icon node={fingerprint} size={20} />
        </span>
        <h1 ref={heading} tabIndex={-1}>
          {texts.passkeyTitle}
        </h1>
        <p className={uiStyles["quiet"]}>{texts.passkeyReason}</p>
      </header>
      <div className={styles["methods"]}>
        <AsyncButton variant="primary" onPress={add}>
          {frameTexts.addPasskey}
        </AsyncButton>
        <Button onPress={decline}>{frameTexts.notNow}</Button>
      </div>
      <PresenceDialog />
    </>
  );
};
