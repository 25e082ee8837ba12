import { useCall, useChange } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Action } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { texts as allTexts } from "./texts.ts";

const texts = allTexts.sessions;

/** Where the account is signed in. Signing out ends the session in use; the others end here. */
const Sessions = () => {
  const sessions = useCall("listSessions", {});
  const revoke = useChange("revokeSession", "listSessions");
  return (
    <Card title={texts.title}>
      <Loaded query={sessions}>
        {({ data }) => (
          <Table
            rows={data}
            columns={[
              [texts.method, ({ method }) => texts.methods[method] ?? method],
              [texts.since, ({ dateCreated }) => showTime(dateCreated)],
              [texts.seen, ({ lastSeenAt }) => showTime(lastSeenAt)],
              [texts.ends, ({ expiresAt }) => showTime(expiresAt)],
              [
                texts.actions,
                ({ id, isCurrent }) =>
                  isCurrent ? (
                    <Badge tone="good">{texts.here}</Badge>
                  ) : (
                    <Action onPress={() => revoke.mutateAsync({ path: { id } })}>
                      {texts.end}
                    </Action>
                  ),
              ],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
};
export default Sessions;
