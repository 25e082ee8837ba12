import { callOperation } from "../../api/call.ts";
import type { PendingCommandSignIn } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { getModeOf } from "../../mode.ts";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import styles from "../../ui/ui.module.css";
import { useScopes } from "../keys/use-scopes.tsx";
import { texts } from "./texts.ts";

type Props = {
  code: string;
  signIn: PendingCommandSignIn;
  onResult: (result: "allowed" | "denied") => void;
};

/**
 * Shows the device that wants to sign in. The user allows it with the chosen scopes, or denies it.
 */
export const Approval = ({ code, signIn, onResult }: Props) => {
  const [scopeFields, readScopes] = useScopes();
  const allowSignIn = useOperationMutation("allowCommandSignIn", "listApiKeys");
  const path = { code };
  const allow = async (_fields: object, formData: FormData): Promise<void> => {
    const scopes = readScopes(formData);
    if (scopes === undefined) return;
    await allowSignIn.mutateAsync({ path, body: { scopes } });
    onResult("allowed");
  };
  const deny = async (): Promise<void> => {
    await callOperation("denyCommandSignIn", { path });
    onResult("denied");
  };
  return (
    <Card>
      <h2>
        <Sentence template={texts.question} name={signIn.deviceName} />
      </h2>
      <Notice tone="warn">{texts.warning}</Notice>
      <DeviceFacts code={code} signIn={signIn} />
      <Form
        submitLabel={texts.allow}
        onSubmit={allow}
        cancelButton={<AsyncButton onPress={deny}>{texts.deny}</AsyncButton>}
      >
        {scopeFields}
        <p className={styles["quiet"]}>
          <Sentence template={texts.keyNote} name={signIn.deviceName} />
        </p>
      </Form>
    </Card>
  );
};

const DeviceFacts = ({ code, signIn }: Pick<Props, "code" | "signIn">) => (
  <dl className={styles["facts"]}>
    <dt>{texts.code}</dt>
    <dd>
      <code>{formatCode(code)}</code>
    </dd>
    <dt>{texts.device}</dt>
    <dd>
      <bdi>{signIn.deviceName}</bdi>
    </dd>
    <dt>{texts.address}</dt>
    <dd>{signIn.address === null ? texts.unknown : <code>{signIn.address}</code>}</dd>
    <dt>{texts.started}</dt>
    <dd>{formatDateTime(signIn.dateCreated)}</dd>
    <dt>{texts.mode}</dt>
    <dd>{texts.modes[getModeOf(signIn)]}</dd>
  </dl>
);

/** Formats a typed code as the device shows it. */
const formatCode = (code: string): string =>
  code
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, "")
    .replace(/^.{4}/, "$&-");
