import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";

/** Keeps event streams alive and bounded; it asks nobody, so that it goes on whoever is away. */
export const createEventStreamHeartbeatJob = ({
  eventStreams,
}: Pick<Dependencies, "eventStreams">): BackgroundJob => ({
  name: "event streams",
  waitMs: eventStreams.heartbeatIntervalMs,
  run: async () => eventStreams.sendHeartbeats(),
});
