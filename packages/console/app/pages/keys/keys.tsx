import { useState } from "react";
import type { ApiKeyData } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecretDialog } from "../../ui/use-secret-dialog.tsx";
import { describeLastUse, describeLimits } from "./describe-key.ts";
import { LimitsDialog } from "./limits-dialog.tsx";
import { NewKey } from "./new-key.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { texts } from "./texts.ts";

/** The API keys with their scopes and usage. The secret of a new key is shown once. */
const Keys = () => {
  const keys = useOperationQuery("listApiKeys", {});
  const [secretDialog, showSecret] = useSecretDialog(texts.secretTitle);
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Card>
        <QueryView query={keys}>
          {({ data }) => <KeyTable keys={data} now={keys.dataUpdatedAt} onSecret={showSecret} />}
        </QueryView>
      </Card>
      <Card title={texts.createTitle}>
        <NewKey onSecret={showSecret} />
      </Card>
      {secretDialog}
    </Page>
  );
};
export default Keys;

type SecretHandlerProps = { onSecret: (secret: string) => void };

type TableProps = { keys: readonly ApiKeyData[]; now: number };

const KeyTable = ({ keys, now, onSecret }: TableProps & SecretHandlerProps) => (
  <Table
    rows={keys}
    emptyText={texts.empty}
    columns={[
      [texts.name, (key) => <KeyName apiKey={key} />],
      [texts.state, (key) => <KeyState apiKey={key} now={now} />],
      [texts.scopes, (key) => <KeyScopes apiKey={key} />],
      [texts.lastUse, (key) => describeLastUse(key)],
      [
        texts.expires,
        ({ expiresAt }) => (expiresAt === null ? texts.never : formatDateTime(expiresAt)),
      ],
      [texts.actions, (key) => <KeyActions apiKey={key} onSecret={onSecret} />],
    ]}
  />
);

const KeyName = ({ apiKey: { name, prefix } }: { apiKey: ApiKeyData }) => (
  <>
    <strong>
      <bdi>{name}</bdi>
    </strong>{" "}
    <code>{prefix}…</code>
  </>
);

/** `now` is the time when the keys were fetched, so that the shown expiry matches the data. */
type KeyProps = { apiKey: ApiKeyData; now: number };

const formatScope = (scope: string): string =>
  scope === "payment_link:create" || scope === "payment_link:read"
    ? texts.scopeNames[scope]
    : scope;

const KeyScopes = ({ apiKey }: { apiKey: ApiKeyData }) => (
  <>
    {apiKey.scopes.map((scope) => formatScope(scope)).join(", ")}
    <br />
    <span className={styles["quiet"]}>{describeLimits(apiKey)}</span>
  </>
);

const KeyState = ({ apiKey: { active, expiresAt, replacedBy }, now }: KeyProps) => {
  if (replacedBy !== null) return <Badge tone="warn">{texts.replaced}</Badge>;
  if (expiresAt !== null && Date.parse(expiresAt) <= now) {
    return <Badge tone="bad">{texts.expired}</Badge>;
  }
  return active ? (
    <Badge tone="good">{texts.active}</Badge>
  ) : (
    <Badge tone="quiet">{texts.inactive}</Badge>
  );
};

const KeyActions = ({ apiKey, onSecret }: { apiKey: ApiKeyData } & SecretHandlerProps) => {
  const [openDialog, setOpenDialog] = useState<"limits" | "rotate" | "revoke">();
  const changeApiKey = useOperationMutation("changeApiKey", "listApiKeys");
  const revokeApiKey = useOperationMutation("revokeApiKey", "listApiKeys");
  const path = { id: apiKey.id };
  const close = () => setOpenDialog(undefined);
  return (
    <div className={styles["row"]}>
      <Button onPress={() => setOpenDialog("limits")} label={`${texts.editLimits}: ${apiKey.name}`}>
        {texts.editLimits}
      </Button>
      <AsyncButton
        label={`${apiKey.active ? texts.deactivate : texts.activate}: ${apiKey.name}`}
        onPress={() => changeApiKey.mutateAsync({ path, body: { active: !apiKey.active } })}
      >
        {apiKey.active ? texts.deactivate : texts.activate}
      </AsyncButton>
      {apiKey.active && apiKey.replacedBy === null && (
        <Button onPress={() => setOpenDialog("rotate")} label={`${texts.rotate}: ${apiKey.name}`}>
          {texts.rotate}
        </Button>
      )}
      <Button
        variant="danger"
        onPress={() => setOpenDialog("revoke")}
        label={`${texts.revoke}: ${apiKey.name}`}
      >
        {texts.revoke}
      </Button>
      {openDialog === "limits" && <LimitsDialog apiKey={apiKey} onClose={close} />}
      {openDialog === "rotate" && (
        <RotateDialog apiKey={apiKey} onSecret={onSecret} onClose={close} />
      )}
      {openDialog === "revoke" && (
        <ConfirmDialog
          title={<Sentence template={texts.revokeTitle} name={apiKey.name} />}
          confirmLabel={texts.revoke}
          onConfirm={() => revokeApiKey.mutateAsync({ path })}
          onClose={close}
        >
          {texts.revokeText}
        </ConfirmDialog>
      )}
    </div>
  );
};
