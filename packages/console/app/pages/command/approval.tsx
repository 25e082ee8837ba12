import { useState } from "react";
import { callOperation } from "../../api/call.ts";
import type { PendingCommandSignIn } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { mode } from "../../mode.ts";
import { Checkbox } from "../../ui/field.tsx";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const scopes = ["payment_link:create", "payment_link:read"] as const;

type Props = {
  code: string;
  signIn: PendingCommandSignIn;
  onResult: (result: "allowed" | "denied") => void;
};

/** Shows the device that wants to sign in. The user allows it with the chosen scopes, or denies it. */
export const Approval = ({ code, signIn, onResult }: Props) => {
  const [hasNoScope, setNoScope] = useState(false);
  const allowSignIn = useOperationMutation("allowCommandSignIn", "listApiKeys");
  const path = { code };
  const allow = async (_fields: object, formData: FormData): Promise<void> => {
    const selectedScopes = scopes.filter((scope) => formData.getAll("scope").includes(scope));
    setNoScope(selectedScopes.length === 0);
    if (selectedScopes.length === 0) return;
    await allowSignIn.mutateAsync({ path, body: { scopes: selectedScopes, mode } });
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
        <fieldset className={styles["field"]}>
          <legend className={styles["label"]}>{texts.permissions}</legend>
          {scopes.map((scope) => (
            <Checkbox
              key={scope}
              name="scope"
              value={scope}
              defaultChecked
              label={texts.scopeNames[scope]}
            />
          ))}
          {hasNoScope && <p className={styles["fault"]}>{texts.noScope}</p>}
        </fieldset>
        <p className={styles["quiet"]}>
          <Sentence template={texts.keyNote} name={signIn.deviceName} />
        </p>
      </Form>
    </Card>
  );
};

const DeviceFacts = ({
  code,
  signIn: { address, dateCreated, deviceName },
}: Pick<Props, "code" | "signIn">) => (
  <dl className={styles["facts"]}>
    <dt>{texts.code}</dt>
    <dd>
      <code>{formatCode(code)}</code>
    </dd>
    <dt>{texts.device}</dt>
    <dd>
      <bdi>{deviceName}</bdi>
    </dd>
    <dt>{texts.address}</dt>
    <dd>{address === null ? texts.unknown : <code>{address}</code>}</dd>
    <dt>{texts.started}</dt>
    <dd>{formatDateTime(dateCreated)}</dd>
  </dl>
);

/** Formats a typed code as the device shows it. */
const formatCode = (code: string): string =>
  code
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, "")
    .replace(/^.{4}/, "$&-");
