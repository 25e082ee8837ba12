import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { deleteEndedListeners } from "../store/listeners.ts";

/** Deletes listeners without a recent connection, with their events, at startup and each minute. */
export const endListeners = ({
  clock,
  pool,
}: Pick<Dependencies, "clock" | "pool">): BackgroundJob => ({
  name: "ended webhook listeners",
  waitMs: 60_000,
  run: () => deleteEndedListeners(pool, clock.now()),
});
