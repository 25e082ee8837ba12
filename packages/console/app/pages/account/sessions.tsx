import { monitor, smartphone } from "@payment-links/design/icons";
import { useState } from "react";
import type { SessionData } from "../../api/operations.ts";
import { useOperationMutation, useOperationQuery } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Card } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./account.module.css";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.sessions;

/** The account's sessions by device. The user can end each of the others, or all of them. */
const Sessions = () => {
  const sessions = useOperationQuery("listSessions", {});
  const hasOthers = sessions.data?.data.some(({ isCurrent }) => !isCurrent) === true;
  return (
    <Card title={texts.title} actions={hasOthers ? <RevokeOthersButton /> : undefined}>
      <p className={uiStyles["quiet"]}>{texts.intro}</p>
      <QueryView query={sessions} placeholder={<SkeletonTable rows={2} />}>
        {({ data }) => (
          <Table
            rows={data}
            columns={[
              [texts.device, (session) => <Device session={session} />],
              [texts.method, ({ method }) => texts.methods[method] ?? method],
              [texts.startedAt, ({ dateCreated }) => formatDateTime(dateCreated)],
              [texts.lastSeen, ({ lastSeenAt }) => formatDateTime(lastSeenAt)],
              [texts.expires, ({ expiresAt }) => formatDateTime(expiresAt)],
              [texts.actions, (session) => <RevokeButton session={session} />, "actions"],
            ]}
          />
        )}
      </QueryView>
    </Card>
  );
};
export default Sessions;

const phonePattern = /iPhone|iPad|Android/;

const getDeviceName = (device: string | null): string =>
  device === null ? texts.unknownDevice : texts.deviceName(device);

const Device = ({ session: { device, isCurrent } }: { session: SessionData }) => (
  <span className={styles["device"]}>
    <Icon node={phonePattern.test(device ?? "") ? smartphone : monitor} />
    <strong>{getDeviceName(device)}</strong>
    {isCurrent && <Badge tone="good">{texts.currentSession}</Badge>}
  </span>
);

const RevokeButton = ({ session: { id, device, isCurrent } }: { session: SessionData }) => {
  const revokeSession = useOperationMutation("revokeSession", "listSessions");
  if (isCurrent) return null;
  return (
    <AsyncButton
      label={`${texts.revoke}: ${getDeviceName(device)}`}
      onPress={() => revokeSession.mutateAsync({ path: { id } })}
    >
      {texts.revoke}
    </AsyncButton>
  );
};

const RevokeOthersButton = () => {
  const [isConfirming, setConfirming] = useState(false);
  const revokeOthers = useOperationMutation("revokeOtherSessions", "listSessions");
  return (
    <>
      <Button onPress={() => setConfirming(true)}>{texts.revokeOthers}</Button>
      {isConfirming && (
        <ConfirmDialog
          title={texts.revokeOthersTitle}
          confirmLabel={texts.revokeOthers}
          onConfirm={() => revokeOthers.mutateAsync({})}
          onClose={() => setConfirming(false)}
        >
          {texts.revokeOthersText}
        </ConfirmDialog>
      )}
    </>
  );
};
