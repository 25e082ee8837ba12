import { useEffect, useSyncExternalStore } from "react";
import { addressOf, call } from "../api/call.ts";
import type { PresenceProof } from "../api/operations.ts";
import { hearOtherTabs } from "../api/other-tabs.ts";
import { type PresenceQuestion, hearQuestions, standingQuestion } from "../api/presence.ts";
import { signByWallet } from "../ceremonies/sign-by-wallet.ts";
import { tokenOf } from "../ceremonies/token-of.ts";
import { signByPasskey } from "../ceremonies/use-passkey.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Action, Form } from "../ui/form.tsx";
import styles from "../ui/ui.module.css";
import { texts } from "./texts.ts";

/** Asks the person to prove to be there, while a call waits for that. */
export const PresenceDialog = () => {
  const question = useSyncExternalStore(hearQuestions, standingQuestion);
  return question === undefined ? null : <Question question={question} />;
};

const Question = ({ question: { methods, end } }: { question: PresenceQuestion }) => {
  // A proof at the identity provider ends in a tab of its own.
  useEffect(() => hearOtherTabs((told) => told === "proven" && end(true)), [end]);
  const prove = async (proof: PresenceProof): Promise<void> => {
    await call("provePresence", { body: proof });
    end(true);
  };
  return (
    <Dialog title={texts.stillYou} onClose={() => end(false)}>
      <p>{texts.why}</p>
      {methods.includes("passkey") && (
        <Action onPress={async () => prove({ passkey: await signByPasskey() })}>
          {texts.byPasskey}
        </Action>
      )}
      {methods.includes("siwe") && (
        <Action onPress={async () => prove({ siwe: await signByWallet() })}>{texts.bySiwe}</Action>
      )}
      {methods.includes("oidc") && (
        <p>
          <a
            href={addressOf("startOidc", { query: { prove: "true" } })}
            target="_blank"
            rel="noopener"
          >
            {texts.byOidc}
          </a>{" "}
          <span className={styles["quiet"]}>{texts.oidcHint}</span>
        </p>
      )}
      {methods.includes("link") && (
        <Form
          submit={texts.byLink}
          look="plain"
          onSubmit={({ link = "" }) => prove({ token: tokenOf(link) })}
        >
          <Field name="link" label={texts.newLink} isRequired />
        </Form>
      )}
      <div className={styles["row"]}>
        <Button onPress={() => end(false)}>{texts.notNow}</Button>
      </div>
    </Dialog>
  );
};
