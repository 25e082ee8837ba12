import { useEffect, useSyncExternalStore } from "react";
import { buildOperationUrl, callOperation } from "../api/call.ts";
import type { PresenceProof } from "../api/operations.ts";
import { subscribeToOtherTabs } from "../api/other-tabs.ts";
import {
  type PresenceRequest,
  subscribeToPresenceRequests,
  getPresenceRequest,
} from "../api/presence.ts";
import { signWithWallet } from "../ceremonies/sign-with-wallet.ts";
import { extractToken } from "../ceremonies/extract-token.ts";
import { signWithPasskey } from "../ceremonies/sign-with-passkey.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { AsyncButton, Form } from "../ui/form.tsx";
import styles from "../ui/ui.module.css";
import { texts } from "./texts.ts";

/** Asks the user to prove presence while a call is waiting for it. */
export const PresenceDialog = () => {
  const request = useSyncExternalStore(subscribeToPresenceRequests, getPresenceRequest);
  return request === undefined ? null : <PresenceRequestDialog request={request} />;
};

const PresenceRequestDialog = ({ request: { methods, finish } }: { request: PresenceRequest }) => {
  // The user finishes a proof at the identity provider in another tab.
  useEffect(
    () => subscribeToOtherTabs((message) => message === "proven" && finish(true)),
    [finish],
  );
  const submitProof = async (proof: PresenceProof): Promise<void> => {
    await callOperation("provePresence", { body: proof });
    finish(true);
  };
  return (
    <Dialog title={texts.confirmIdentityTitle} onClose={() => finish(false)}>
      <p>{texts.confirmIdentityReason}</p>
      {methods.includes("passkey") && (
        <AsyncButton onPress={async () => submitProof({ passkey: await signWithPasskey() })}>
          {texts.confirmWithPasskey}
        </AsyncButton>
      )}
      {methods.includes("siwe") && (
        <AsyncButton onPress={async () => submitProof({ siwe: await signWithWallet() })}>
          {texts.confirmWithEthereum}
        </AsyncButton>
      )}
      {methods.includes("oidc") && (
        <p>
          <a
            href={buildOperationUrl("startOidc", { query: { prove: "true" } })}
            target="_blank"
            rel="noopener"
          >
            {texts.confirmWithOidc}
          </a>{" "}
          <span className={styles["quiet"]}>{texts.oidcHint}</span>
        </p>
      )}
      {methods.includes("link") && (
        <Form
          submitLabel={texts.confirmWithLink}
          variant="plain"
          onSubmit={({ link = "" }) => submitProof({ token: extractToken(link) })}
        >
          <Field name="link" label={texts.newSignInLink} isRequired />
        </Form>
      )}
      <div className={styles["row"]}>
        <Button onPress={() => finish(false)}>{texts.notNow}</Button>
      </div>
    </Dialog>
  );
};
