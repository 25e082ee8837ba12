import { useCall, useChange } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Action } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
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
          <table className={styles["table"]}>
            <thead>
              <tr>
                <th>{texts.method}</th>
                <th>{texts.since}</th>
                <th>{texts.seen}</th>
                <th>{texts.ends}</th>
                <th>{texts.actions}</th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ id, method, dateCreated, lastSeenAt, expiresAt, isCurrent }) => (
                <tr key={id}>
                  <td data-label={texts.method}>{texts.methods[method] ?? method}</td>
                  <td data-label={texts.since}>{showTime(dateCreated)}</td>
                  <td data-label={texts.seen}>{showTime(lastSeenAt)}</td>
                  <td data-label={texts.ends}>{showTime(expiresAt)}</td>
                  <td data-label={texts.actions}>
                    {isCurrent ? (
                      <Badge tone="good">{texts.here}</Badge>
                    ) : (
                      <Action onPress={() => revoke.mutateAsync({ path: { id } })}>
                        {texts.end}
                      </Action>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Loaded>
    </Card>
  );
};
export default Sessions;
