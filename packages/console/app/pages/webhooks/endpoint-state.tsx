import type { WebhookEndpointData } from "../../api/operations.ts";
import { Badge } from "../../ui/badge.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

type Props = { endpoint: WebhookEndpointData };

/** Whether an endpoint is told anything. */
export const EndpointState = ({ endpoint }: Props) =>
  endpoint.enabled ? (
    <Badge tone="accent">{texts.enabled}</Badge>
  ) : (
    <Badge tone="quiet">{texts.disabled}</Badge>
  );

/** How the last attempt ended, and how many have failed since one did not. */
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
