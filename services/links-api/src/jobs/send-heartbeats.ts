import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";

/**
 * Sends heartbeats to event streams and ends streams that exceed their limits. It does not depend
 * on other systems, so it works during any outage.
 */
export const sendHeartbeats = ({
  eventStreams,
}: Pick<Dependencies, "eventStreams">): BackgroundJob => ({
  name: "event streams",
  waitMs: eventStreams.heartbeatIntervalMs,
  run: async () => eventStreams.sendHeartbeats(),
});
