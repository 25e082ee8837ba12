import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { type Backlog, readBacklog } from "../store/open-payments.ts";

/** Measures how many payments are deferred or processing, and for how long. */
export const measureBacklog = ({
  clock,
  counters,
  pool,
}: Pick<Dependencies, "clock" | "counters" | "pool">): BackgroundJob => {
  let backlog: Backlog | undefined;
  return {
    name: "settlement backlog",
    waitMs: 15_000,
    run: async () => {
      backlog = await readBacklog(pool, backlog);
      counters.setBacklog(backlog, clock.now());
    },
  };
};
