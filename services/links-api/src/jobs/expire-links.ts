import { type Loop, startLoop } from "@payment-links/runtime";
import type { Deps } from "../deps.ts";
import { markExpired } from "../store/links.ts";

const everyMs = 1_000;
const linksMax = 1_000;

/**
 * Keeps the stored status of expired links near the truth, so that a list of active links never walks
 * over dead ones. Nothing else depends on it: readers judge expiry by their own clock.
 */
export const startExpiry = (deps: Pick<Deps, "pool" | "clock" | "log" | "counters">): Loop =>
  startLoop({
    name: "link expiry",
    clock: deps.clock,
    log: deps.log,
    waitMs: everyMs,
    run: async () => {
      const count = await markExpired(deps.pool, { now: deps.clock.now(), linksMax });
      if (count > 0) deps.counters.expired(count);
      return count === linksMax;
    },
  });
