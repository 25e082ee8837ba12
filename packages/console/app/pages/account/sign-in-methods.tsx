import { building, fingerprint, plus, wallet } from "@payment-links/design/icons";
import { useState } from "react";
import { buildOperationUrl, callOperation } from "../../api/call.ts";
import type { IdentityData, PasskeyData } from "../../api/operations.ts";
import { useOperationMutation, useOperationQuery } from "../../api/query.ts";
import { createPasskey } from "../../ceremonies/sign-with-passkey.ts";
import { signWithWallet } from "../../ceremonies/sign-with-wallet.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field } from "../../ui/field.tsx";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Card } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import uiStyles from "../../ui/ui.module.css";
import styles from "./account.module.css";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.signIn;

/** The account's sign-in methods: company accounts, Ethereum addresses and passkeys. */
const SignInMethods = () => {
  const methods = useOperationQuery("listSignInMethods", {});
  return (
    <QueryView query={methods}>
      {({ methods: methodNames }) => (
        <>
          {methodNames.includes("passkey") && <Passkeys />}
          <Identities methods={methodNames} />
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
  const linkButtons = (
    <>
      {methods.includes("oidc") && (
        <AsyncButton icon={plus} onPress={linkCompany}>
          {texts.linkOidc}
        </AsyncButton>
      )}
      {methods.includes("siwe") && (
        <AsyncButton
          icon={plus}
          onPress={async () => linkIdentity.mutateAsync({ body: { siwe: await signWithWallet() } })}
        >
          {texts.linkSiwe}
        </AsyncButton>
      )}
    </>
  );
  return (
    <Card title={texts.identities} actions={linkButtons}>
      <QueryView query={identities}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={building} title={texts.noIdentitiesTitle}>
              {texts.noIdentities}
            </EmptyState>
          ) : (
            <ul className={styles["methods"]}>
              {data.map((identity) => (
                <Identity key={identity.id} identity={identity} />
              ))}
            </ul>
          )
        }
      </QueryView>
    </Card>
  );
};

const Identity = ({ identity }: { identity: IdentityData }) => {
  const { id, dateCreated, issuer, method, subject } = identity;
  const [isConfirming, setConfirming] = useState(false);
  const unlinkIdentity = useOperationMutation("unlinkIdentity", "listIdentities", "listSessions");
  return (
    <li>
      <Icon node={method === "siwe" ? wallet : building} size={20} />
      <div>
        <strong>{method === "siwe" ? texts.ethereum : issuer}</strong> <code>{subject}</code>
        <p className={uiStyles["quiet"]}>{texts.linkedAt(formatDateTime(dateCreated))}</p>
      </div>
      <ActionMenu
        label={`${texts.actions}: ${subject}`}
        items={[{ label: texts.unlink, tone: "danger", onAction: () => setConfirming(true) }]}
      />
      {isConfirming && (
        <ConfirmDialog
          title={<Sentence template={texts.unlinkTitle} name={subject} />}
          confirmLabel={texts.unlink}
          onConfirm={() => unlinkIdentity.mutateAsync({ path: { id } })}
          onClose={() => setConfirming(false)}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </li>
  );
};

const Passkeys = () => {
  const passkeys = useOperationQuery("listPasskeys", {});
  const [isAdding, setAdding] = useState(false);
  const addButton = (
    <Button icon={plus} onPress={() => setAdding(true)}>
      {texts.add}
    </Button>
  );
  return (
    <Card title={texts.passkeys} actions={addButton}>
      <QueryView query={passkeys} placeholder={<Skeleton height="11rem" />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={fingerprint} title={texts.noPasskeysTitle}>
              {texts.noPasskeys}
            </EmptyState>
          ) : (
            <ul className={styles["methods"]}>
              {data.map((passkey) => (
                <Passkey key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </QueryView>
      {isAdding && <NewPasskeyDialog onClose={() => setAdding(false)} />}
    </Card>
  );
};

const NewPasskeyDialog = ({ onClose }: { onClose: () => void }) => {
  const addPasskey = useOperationMutation("addPasskey", "listPasskeys");
  return (
    <Dialog title={texts.add} onClose={onClose}>
      <Form
        submitLabel={texts.add}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
        onSubmit={async ({ name = "" }) => {
          const passkey = await createPasskey();
          await addPasskey.mutateAsync({ body: { name, passkey } });
          onClose();
        }}
      >
        <Field name="name" label={texts.name} hint={texts.nameHint} isRequired maxLength={100} />
      </Form>
    </Dialog>
  );
};

const Passkey = ({ passkey: { id, name, lastUsedAt } }: { passkey: PasskeyData }) => {
  const [openDialog, setOpenDialog] = useState<"rename" | "remove">();
  const changePasskey = useOperationMutation("changePasskey", "listPasskeys");
  const removePasskey = useOperationMutation("removePasskey", "listPasskeys", "listSessions");
  const close = () => setOpenDialog(undefined);
  return (
    <li>
      <Icon node={fingerprint} size={20} />
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <p className={uiStyles["quiet"]}>
          {lastUsedAt === null ? texts.neverUsed : texts.lastUsed(formatDateTime(lastUsedAt))}
        </p>
      </div>
      <ActionMenu
        label={`${texts.actions}: ${name}`}
        items={[
          { label: texts.rename, onAction: () => setOpenDialog("rename") },
          { label: texts.remove, tone: "danger", onAction: () => setOpenDialog("remove") },
        ]}
      />
      {openDialog === "rename" && (
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
      {openDialog === "remove" && (
        <ConfirmDialog
          title={<Sentence template={texts.removeTitle} name={name} />}
          confirmLabel={texts.remove}
          onConfirm={() => removePasskey.mutateAsync({ path: { id } })}
          onClose={close}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </li>
  );
};
