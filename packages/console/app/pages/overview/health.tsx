import { Link } from "react-router";
import type { ApiKeyData, WebhookEndpointData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import { texts } from "./texts.ts";

const refetchIntervalMs = 30_000;
const expiringWithinMs = 14 * 86_400_000;

/** Integration problems that need attention: failing endpoints and expiring keys. */
export const Health = () => {
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { refetchIntervalMs });
  const keys = useOperationQuery("listApiKeys", {});
  return (
    <div className={styles["sides"]}>
      <Card title={texts.webhookHealth}>
        <QueryView query={endpoints}>
          {({ data }) => <FailingEndpoints endpoints={data} />}
        </QueryView>
      </Card>
      <Card title={texts.expiringKeys}>
        <QueryView query={keys}>
          {({ data }) => (
            <ExpiringKeys keys={data} untilMs={keys.dataUpdatedAt + expiringWithinMs} />
          )}
        </QueryView>
      </Card>
    </div>
  );
};

const FailingEndpoints = ({ endpoints }: { endpoints: readonly WebhookEndpointData[] }) => {
  const failingEndpoints = endpoints.filter(
    ({ enabled, consecutiveFailures }) => enabled && consecutiveFailures > 0,
  );
  if (failingEndpoints.length === 0) {
    return (
      <p className={uiStyles["quiet"]}>
        {endpoints.length === 0 ? texts.noEndpoints : texts.allEndpointsHealthy}
      </p>
    );
  }
  return failingEndpoints.map(({ id, name, consecutiveFailures }) => (
    <p key={id}>
      <Link to={`/webhooks/${id}`}>
        <bdi>{name}</bdi>
      </Link>{" "}
      <span className={uiStyles["fault"]}>{texts.consecutiveFailures(consecutiveFailures)}</span>
    </p>
  ));
};

const ExpiringKeys = ({ keys, untilMs }: { keys: readonly ApiKeyData[]; untilMs: number }) => {
  const expiringKeys = keys.filter(
    ({ active, expiresAt }) => active && expiresAt !== null && Date.parse(expiresAt) <= untilMs,
  );
  if (expiringKeys.length === 0) return <p className={uiStyles["quiet"]}>{texts.noExpiringKeys}</p>;
  return expiringKeys.map(({ id, name, expiresAt }) => (
    <p key={id}>
      <Link to="/keys">
        <bdi>{name}</bdi>
      </Link>{" "}
      {texts.expires} {formatDateTime(expiresAt ?? "")}
    </p>
  ));
};
