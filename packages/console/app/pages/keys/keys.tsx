import { keyRound, plus } from "@payment-links/design/icons";
import { useState } from "react";
import { Link } from "react-router";
import { createDuplicateGuard } from "../../api/duplicate-guard.ts";
import type { ApiKeyData, IgnoredFields } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { isOfMode, mode } from "../../mode.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecretDialog } from "../../ui/use-secret-dialog.tsx";
import { describeLimits } from "./describe-key.ts";
import { KeyMenu } from "./key-menu.tsx";
import { NewKeyDialog } from "./new-key.tsx";
import { texts } from "./texts.ts";

/** The API keys with their scopes and usage. The secret of a new key is shown once. */
const Keys = () => {
  const keys = useOperationQuery("listApiKeys", {});
  const ignoredFields = useOperationQuery("listIgnoredFields", { query: { mode } });
  const [isCreating, setCreating] = useState(false);
  // It outlives the dialog, because its user may close it after a lost response.
  const [duplicateGuard] = useState(createDuplicateGuard);
  const [secretDialog, showSecret] = useSecretDialog(texts.secretTitle);
  const createButton = (
    <Button variant="primary" icon={plus} onPress={() => setCreating(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} actions={createButton}>
      <p className={styles["quiet"]}>
        {mode === "test" ? texts.introTest : texts.intro}{" "}
        <Link to="/developers">{texts.viewSamples}</Link>
      </p>
      <Card>
        <QueryView query={keys} placeholder={<SkeletonTable rows={3} />}>
          {(list) => {
            const data = list.data.filter(isOfMode);
            return data.length === 0 ? (
              <EmptyState icon={keyRound} title={texts.emptyTitle} action={createButton}>
                {mode === "test" ? texts.emptyTest : texts.empty}
              </EmptyState>
            ) : (
              <KeyTable
                keys={data}
                ignoredFields={ignoredFields.data?.data ?? []}
                now={keys.dataUpdatedAt}
                onSecret={showSecret}
              />
            );
          }}
        </QueryView>
      </Card>
      {isCreating && (
        <NewKeyDialog
          duplicateGuard={duplicateGuard}
          onSecret={showSecret}
          onClose={() => setCreating(false)}
        />
      )}
      {secretDialog}
    </Page>
  );
};
export default Keys;

type TableProps = {
  keys: readonly ApiKeyData[];
  ignoredFields: readonly IgnoredFields[];
  now: number;
  onSecret: (secret: string) => void;
};

const KeyTable = ({ keys, ignoredFields, now, onSecret }: TableProps) => (
  <Table
    rows={keys}
    columns={[
      [texts.name, (key) => <KeyName apiKey={key} />],
      [texts.state, (key) => <KeyState apiKey={key} now={now} />],
      [
        texts.scopes,
        (key) => (
          <>
            <KeyScopes apiKey={key} />
            <IgnoredFieldNames fields={ignoredFields.find(({ keyId }) => keyId === key.id)} />
          </>
        ),
      ],
      [texts.lastUse, (key) => <LastUse apiKey={key} />, "date"],
      [
        texts.expires,
        ({ expiresAt }) => (expiresAt === null ? texts.never : formatDateTime(expiresAt)),
        "date",
      ],
      [texts.actions, (key) => <KeyMenu apiKey={key} onSecret={onSecret} />, "actions"],
    ]}
  />
);

const KeyName = ({ apiKey: { name, prefix } }: { apiKey: ApiKeyData }) => (
  <>
    <strong>
      <bdi>{name}</bdi>
    </strong>
    <br />
    <code className={styles["quiet"]}>{prefix}…</code>
  </>
);

const formatScope = (scope: string): string =>
  scope === "payment_link:create" || scope === "payment_link:read"
    ? texts.scopeNames[scope]
    : scope;

const KeyScopes = ({ apiKey }: { apiKey: ApiKeyData }) => {
  const limits = describeLimits(apiKey);
  return (
    <>
      {apiKey.scopes.map((scope) => formatScope(scope)).join(", ")}
      {limits !== null && (
        <>
          <br />
          <span className={styles["quiet"]}>{limits}</span>
        </>
      )}
    </>
  );
};

const LastUse = ({ apiKey: { lastUsedAt, lastUsedAddress } }: { apiKey: ApiKeyData }) => {
  if (lastUsedAt === null) return <span className={styles["quiet"]}>{texts.neverUsed}</span>;
  return (
    <>
      {formatDateTime(lastUsedAt)}
      {lastUsedAddress !== null && (
        <>
          <br />
          <span className={styles["quiet"]}>{texts.fromAddress(lastUsedAddress)}</span>
        </>
      )}
    </>
  );
};

/** The fields of the latest create that had no effect, for example because they are misspelled. */
const IgnoredFieldNames = ({ fields }: { fields: IgnoredFields | undefined }) =>
  fields !== undefined && (
    <>
      <br />
      <span title={formatDateTime(fields.seenAt)}>
        {texts.ignoredFields(fields.names.join(", "))}
      </span>
    </>
  );

/** `now` is the time when the keys were fetched, so that the shown expiry matches the data. */
type KeyStateProps = { apiKey: ApiKeyData; now: number };

const KeyState = ({ apiKey: { active, expiresAt, replacedBy }, now }: KeyStateProps) => {
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
