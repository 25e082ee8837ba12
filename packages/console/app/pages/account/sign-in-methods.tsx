import { useState } from "react";
import { buildOperationUrl, callOperation } from "../../api/call.ts";
import type { IdentityData, PasskeyData } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { signWithWallet } from "../../ceremonies/sign-with-wallet.ts";
import { createPasskey } from "../../ceremonies/sign-with-passkey.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.signIn;

/** The account's sign-in methods: company accounts, Ethereum addresses and passkeys. */
const SignInMethods = () => {
  const methods = useOperationQuery("listSignInMethods", {});
  return (
    <QueryView query={methods}>
      {({ methods: methodNames }) => (
        <>
          <Identities methods={methodNames} />
          {methodNames.includes("passkey") && <Passkeys />}
        </>
      )}
    </QueryView>
  );
};
export default SignInMethods;

const Identities = ({ methods }: { methods: readonly string[] }) => {
  const identities = useOperationQuery("listIdentities", {});
  const linkIdentity = useOperationMutation("linkIdentity", "listIdentities");
  const linkCompany = async (): Promise<void> => {
    // First calls the operation, which asks for a proof of presence if necessary. Then navigates to
    // the same URL.
    const input = { query: { link: "true" } } as const;
    await callOperation("startOidc", input);
    location.assign(buildOperationUrl("startOidc", input));
  };
  return (
    <Card title={texts.identities}>
      <QueryView query={identities}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className={styles["quiet"]}>{texts.empty}</p>}
            {data.map((identity) => (
              <Identity key={identity.id} identity={identity} />
            ))}
          </>
        )}
      </QueryView>
      <div className={styles["row"]}>
        {methods.includes("oidc") && (
          <AsyncButton onPress={linkCompany}>{texts.linkOidc}</AsyncButton>
        )}
        {methods.includes("siwe") && (
          <AsyncButton
            onPress={async () =>
              linkIdentity.mutateAsync({ body: { siwe: await signWithWallet() } })
            }
          >
            {texts.linkSiwe}
          </AsyncButton>
        )}
      </div>
    </Card>
  );
};

const Identity = ({ identity: { id, method, issuer, subject } }: { identity: IdentityData }) => {
  const unlinkIdentity = useOperationMutation("unlinkIdentity", "listIdentities", "listSessions");
  return (
    <div className={styles["row"]}>
      <span>
        {method === "siwe" ? texts.ethereum : issuer} <code>{subject}</code>
      </span>
      <AsyncButton
        label={`${texts.unlink}: ${subject}`}
        onPress={() => unlinkIdentity.mutateAsync({ path: { id } })}
      >
        {texts.unlink}
      </AsyncButton>
    </div>
  );
};

const Passkeys = () => {
  const passkeys = useOperationQuery("listPasskeys", {});
  const addPasskey = useOperationMutation("addPasskey", "listPasskeys");
  return (
    <Card title={texts.passkeys}>
      <QueryView query={passkeys}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className={styles["quiet"]}>{texts.empty}</p>}
            {data.map((passkey) => (
              <Passkey key={passkey.id} passkey={passkey} />
            ))}
          </>
        )}
      </QueryView>
      <Form
        submitLabel={texts.add}
        variant="plain"
        resetsOnSuccess
        onSubmit={async ({ name = "" }) => {
          const passkey = await createPasskey();
          await addPasskey.mutateAsync({ body: { name, passkey } });
        }}
      >
        <Field name="name" label={texts.name} isRequired maxLength={100} />
      </Form>
    </Card>
  );
};

const Passkey = ({ passkey: { id, name, lastUsedAt } }: { passkey: PasskeyData }) => {
  const [isRenaming, setRenaming] = useState(false);
  const changePasskey = useOperationMutation("changePasskey", "listPasskeys");
  const removePasskey = useOperationMutation("removePasskey", "listPasskeys", "listSessions");
  const close = () => setRenaming(false);
  return (
    <div className={styles["row"]}>
      <span>
        <strong>
          <bdi>{name}</bdi>
        </strong>{" "}
        {lastUsedAt === null ? texts.neverUsed : texts.lastUsed(formatDateTime(lastUsedAt))}
      </span>
      <Button label={`${texts.rename}: ${name}`} onPress={() => setRenaming(true)}>
        {texts.rename}
      </Button>
      <AsyncButton
        label={`${texts.remove}: ${name}`}
        onPress={() => removePasskey.mutateAsync({ path: { id } })}
      >
        {texts.remove}
      </AsyncButton>
      {isRenaming && (
        <Dialog title={texts.rename} onClose={close}>
          <Form
            submitLabel={texts.rename}
            cancelButton={<Button onPress={close}>{uiTexts.cancel}</Button>}
            onSubmit={async ({ name: newName = "" }) => {
              await changePasskey.mutateAsync({ path: { id }, body: { name: newName } });
              close();
            }}
          >
            <Field
              name="name"
              label={texts.newName}
              isRequired
              maxLength={100}
              defaultValue={name}
            />
          </Form>
        </Dialog>
      )}
    </div>
  );
};
