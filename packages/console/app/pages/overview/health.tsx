import { Link } from "react-router";
import type { ApiKeyData, WebhookEndpointData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import { texts } from "./texts.ts";

const followMs = 30_000;
const soonMs = 14 * 86_400_000;

/** What of an account's programs needs a person: endpoints that fail, keys that end. */
export const Health = () => {
  const endpoints = useCall("listWebhookEndpoints", {}, { everyMs: followMs });
  const keys = useCall("listApiKeys", {});
  return (
    <div className={styles["sides"]}>
      <Card title={texts.health}>
        <Loaded query={endpoints}>{({ data }) => <Endpoints endpoints={data} />}</Loaded>
      </Card>
      <Card title={texts.keys}>
        <Loaded query={keys}>
          {({ data }) => <Ending keys={data} until={keys.dataUpdatedAt + soonMs} />}
        </Loaded>
      </Card>
    </div>
  );
};

const Endpoints = ({ endpoints }: { endpoints: readonly WebhookEndpointData[] }) => {
  const failing = endpoints.filter(
    ({ enabled, consecutiveFailures }) => enabled && consecutiveFailures > 0,
  );
  if (failing.length === 0) {
    return (
      <p className={uiStyles["quiet"]}>
        {endpoints.length === 0 ? texts.noEndpoints : texts.healthy}
      </p>
    );
  }
  return failing.map(({ id, name, consecutiveFailures }) => (
    <p key={id}>
      <Link to={`/webhooks/${id}`}>
        <bdi>{name}</bdi>
      </Link>{" "}
      <span className={uiStyles["fault"]}>{texts.failing(consecutiveFailures)}</span>
    </p>
  ));
};

const Ending = ({ keys, until }: { keys: readonly ApiKeyData[]; until: number }) => {
  const ending = keys.filter(
    ({ active, expiresAt }) => active && expiresAt !== null && Date.parse(expiresAt) <= until,
  );
  if (ending.length === 0) return <p className={uiStyles["quiet"]}>{texts.noKeys}</p>;
  return ending.map(({ id, name, expiresAt }) => (
    <p key={id}>
      <Link to="/keys">
        <bdi>{name}</bdi>
      </Link>{" "}
      {texts.expires} {showTime(expiresAt ?? "")}
    </p>
  ));
};
