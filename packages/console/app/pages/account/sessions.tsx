import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.sessions;

/** The account's sessions. Signing out ends the current session. The others can be ended here. */
const Sessions = () => {
  const sessions = useOperationQuery("listSessions", {});
  const revokeSession = useOperationMutation("revokeSession", "listSessions");
  return (
    <Card title={texts.title}>
      <QueryView query={sessions}>
        {({ data }) => (
          <Table
            rows={data}
            columns={[
              [texts.method, ({ method }) => texts.methods[method] ?? method],
              [texts.startedAt, ({ dateCreated }) => formatDateTime(dateCreated)],
              [texts.lastSeen, ({ lastSeenAt }) => formatDateTime(lastSeenAt)],
              [texts.expires, ({ expiresAt }) => formatDateTime(expiresAt)],
              [
                texts.actions,
                ({ id, isCurrent }) =>
                  isCurrent ? (
                    <Badge tone="good">{texts.currentSession}</Badge>
                  ) : (
                    <AsyncButton onPress={() => revokeSession.mutateAsync({ path: { id } })}>
                      {texts.revoke}
                    </AsyncButton>
                  ),
              ],
            ]}
          />
        )}
      </QueryView>
    </Card>
  );
};
export default Sessions;
