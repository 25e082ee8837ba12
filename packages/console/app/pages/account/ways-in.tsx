import { useState } from "react";
import { addressOf, call } from "../../api/call.ts";
import type { IdentityData, PasskeyData } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { signByWallet } from "../../ceremonies/sign-by-wallet.ts";
import { makePasskey } from "../../ceremonies/use-passkey.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Action, Form } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { texts as uiTexts } from "../../ui/texts.ts";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.signIn;

/** What signs in to the account: company accounts, Ethereum addresses, passkeys. */
const WaysIn = () => {
  const methods = useCall("listSignInMethods", {});
  return (
    <Loaded query={methods}>
      {({ methods: names }) => (
        <>
          <Identities methods={names} />
          {names.includes("passkey") && <Passkeys />}
        </>
      )}
    </Loaded>
  );
};
export default WaysIn;

const Identities = ({ methods }: { methods: readonly string[] }) => {
  const identities = useCall("listIdentities", {});
  const link = useChange("linkIdentity", "listIdentities");
  const linkCompany = async (): Promise<void> => {
    // Asks for presence where that is missing; then the browser goes there by itself.
    const input = { query: { link: "true" } } as const;
    await call("startOidc", input);
    location.assign(addressOf("startOidc", input));
  };
  return (
    <Card title={texts.identities}>
      <Loaded query={identities}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className={styles["quiet"]}>{texts.none}</p>}
            {data.map((identity) => (
              <Identity key={identity.id} identity={identity} />
            ))}
          </>
        )}
      </Loaded>
      <div className={styles["row"]}>
        {methods.includes("oidc") && <Action onPress={linkCompany}>{texts.linkOidc}</Action>}
        {methods.includes("siwe") && (
          <Action onPress={async () => link.mutateAsync({ body: { siwe: await signByWallet() } })}>
            {texts.linkSiwe}
          </Action>
        )}
      </div>
    </Card>
  );
};

const Identity = ({ identity: { id, method, issuer, subject } }: { identity: IdentityData }) => {
  const unlink = useChange("unlinkIdentity", "listIdentities", "listSessions");
  return (
    <div className={styles["row"]}>
      <span>
        {method === "siwe" ? texts.ethereum : issuer} <code>{subject}</code>
      </span>
      <Action
        label={`${texts.unlink}: ${subject}`}
        onPress={() => unlink.mutateAsync({ path: { id } })}
      >
        {texts.unlink}
      </Action>
    </div>
  );
};

const Passkeys = () => {
  const passkeys = useCall("listPasskeys", {});
  const add = useChange("addPasskey", "listPasskeys");
  return (
    <Card title={texts.passkeys}>
      <Loaded query={passkeys}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className={styles["quiet"]}>{texts.none}</p>}
            {data.map((passkey) => (
              <Passkey key={passkey.id} passkey={passkey} />
            ))}
          </>
        )}
      </Loaded>
      <Form
        submit={texts.add}
        look="plain"
        isEmptied
        onSubmit={async ({ name = "" }) => {
          const passkey = await makePasskey();
          await add.mutateAsync({ body: { name, passkey } });
        }}
      >
        <Field name="name" label={texts.name} isRequired maxLength={100} />
      </Form>
    </Card>
  );
};

const Passkey = ({ passkey: { id, name, lastUsedAt } }: { passkey: PasskeyData }) => {
  const [isNaming, setNaming] = useState(false);
  const change = useChange("changePasskey", "listPasskeys");
  const remove = useChange("removePasskey", "listPasskeys", "listSessions");
  const close = () => setNaming(false);
  return (
    <div className={styles["row"]}>
      <span>
        <strong>
          <bdi>{name}</bdi>
        </strong>{" "}
        {lastUsedAt === null ? texts.neverUsed : texts.lastUsed(showTime(lastUsedAt))}
      </span>
      <Button label={`${texts.rename}: ${name}`} onPress={() => setNaming(true)}>
        {texts.rename}
      </Button>
      <Action
        label={`${texts.remove}: ${name}`}
        onPress={() => remove.mutateAsync({ path: { id } })}
      >
        {texts.remove}
      </Action>
      {isNaming && (
        <Dialog title={texts.rename} onClose={close}>
          <Form
            submit={texts.rename}
            cancel={<Button onPress={close}>{uiTexts.cancel}</Button>}
            onSubmit={async ({ name: to = "" }) => {
              await change.mutateAsync({ path: { id }, body: { name: to } });
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
