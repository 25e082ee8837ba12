import type { WebhookEndpointData } from "../../api/operations.ts";
import { Badge } from "../../ui/badge.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

type Props = { endpoint: WebhookEndpointData };

/** Whether an endpoint is enabled. */
export const EndpointState = ({ endpoint }: Props) =>
  endpoint.enabled ? (
    <Badge tone="accent">{texts.enabled}</Badge>
  ) : (
    <Badge tone="quiet">{texts.disabled}</Badge>
  );

/** The result of the last attempt, and the number of consecutive failures. */
export const LastOutcome = ({ endpoint: { lastOutcome, consecutiveFailures } }: Props) => {
  if (lastOutcome === null) return <span className={styles["quiet"]}>{texts.noAttemptsYet}</span>;
  return (
    <>
      <Badge tone={lastOutcome === "Delivered" ? "good" : "bad"}>
        {texts.outcomes[lastOutcome]}
      </Badge>
      {consecutiveFailures > 0 && ` ${texts.failures(consecutiveFailures)}`}
    </>
  );
};
