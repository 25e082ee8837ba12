import { useState } from "react";
import type { ApiKeyData } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Action } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecret } from "../../ui/use-secret.tsx";
import { lastUseOf, limitsOf } from "./describe-key.ts";
import { LimitsDialog } from "./limits-dialog.tsx";
import { NewKey } from "./new-key.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { texts } from "./texts.ts";

/** The API keys: what each may do and how it is used; a new one is shown once. */
const Keys = () => {
  const keys = useCall("listApiKeys", {});
  const [secretDialog, showSecret] = useSecret(texts.secretTitle);
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Card>
        <Loaded query={keys}>
          {({ data }) => <KeyTable keys={data} now={keys.dataUpdatedAt} onSecret={showSecret} />}
        </Loaded>
      </Card>
      <Card title={texts.createTitle}>
        <NewKey onSecret={showSecret} />
      </Card>
      {secretDialog}
    </Page>
  );
};
export default Keys;

type OnSecret = { onSecret: (secret: string) => void };

type TableProps = { keys: readonly ApiKeyData[]; now: number };

const KeyTable = ({ keys, now, onSecret }: TableProps & OnSecret) => (
  <Table
    rows={keys}
    none={texts.none}
    columns={[
      [texts.name, (key) => <KeyName apiKey={key} />],
      [texts.state, (key) => <KeyState apiKey={key} now={now} />],
      [texts.scopes, (key) => <KeyScopes apiKey={key} />],
      [texts.lastUse, (key) => lastUseOf(key)],
      [texts.expires, ({ expiresAt }) => (expiresAt === null ? texts.never : showTime(expiresAt))],
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

/** Whether a key has expired is told of the moment in which it was read. */
type KeyProps = { apiKey: ApiKeyData; now: number };

const scopeText = (scope: string): string =>
  scope === "payment_link:create" || scope === "payment_link:read"
    ? texts.scopeNames[scope]
    : scope;

const KeyScopes = ({ apiKey }: { apiKey: ApiKeyData }) => (
  <>
    {apiKey.scopes.map((scope) => scopeText(scope)).join(", ")}
    <br />
    <span className={styles["quiet"]}>{limitsOf(apiKey)}</span>
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
    <Badge tone="quiet">{texts.off}</Badge>
  );
};

const KeyActions = ({ apiKey, onSecret }: { apiKey: ApiKeyData } & OnSecret) => {
  const [asked, setAsked] = useState<"limits" | "rotate" | "revoke">();
  const change = useChange("changeApiKey", "listApiKeys");
  const revoke = useChange("revokeApiKey", "listApiKeys");
  const path = { id: apiKey.id };
  const close = () => setAsked(undefined);
  return (
    <div className={styles["row"]}>
      <Button onPress={() => setAsked("limits")} label={`${texts.change}: ${apiKey.name}`}>
        {texts.change}
      </Button>
      <Action
        label={`${apiKey.active ? texts.turnOff : texts.turnOn}: ${apiKey.name}`}
        onPress={() => change.mutateAsync({ path, body: { active: !apiKey.active } })}
      >
        {apiKey.active ? texts.turnOff : texts.turnOn}
      </Action>
      {apiKey.active && apiKey.replacedBy === null && (
        <Button onPress={() => setAsked("rotate")} label={`${texts.rotate}: ${apiKey.name}`}>
          {texts.rotate}
        </Button>
      )}
      <Button
        look="danger"
        onPress={() => setAsked("revoke")}
        label={`${texts.revoke}: ${apiKey.name}`}
      >
        {texts.revoke}
      </Button>
      {asked === "limits" && <LimitsDialog apiKey={apiKey} onClose={close} />}
      {asked === "rotate" && <RotateDialog apiKey={apiKey} onSecret={onSecret} onClose={close} />}
      {asked === "revoke" && (
        <ConfirmDialog
          title={<Sentence words={texts.revokeTitle} name={apiKey.name} />}
          confirm={texts.revoke}
          onConfirm={() => revoke.mutateAsync({ path })}
          onClose={close}
        >
          {texts.revokeText}
        </ConfirmDialog>
      )}
    </div>
  );
};
