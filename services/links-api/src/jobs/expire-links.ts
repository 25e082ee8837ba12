import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { markExpired } from "../store/links.ts";

const linksMax = 1_000;
const fromStartEveryMs = 60_000;

/**
 * Keeps the stored status of expired links near the truth, so that lists of active links never walk
 * over dead ones. Nothing else depends on it: readers judge expiry by their own clock (rule
 * STATE-3). Each run goes on where the last one ended. Once a minute it begins again, for links
 * that were locked or came late.
 */
export const expireLinks = ({
  clock,
  counters,
  pool,
}: Pick<Deps, "clock" | "counters" | "pool">): Job => {
  let from: Date | undefined;
  let startedAtMs = clock.now().getTime();
  return {
    name: "link expiry",
    waitMs: 1_000,
    run: async () => {
      const now = clock.now();
      if (now.getTime() - startedAtMs >= fromStartEveryMs) {
        from = undefined;
        startedAtMs = now.getTime();
      }
      const { count, until } = await markExpired(pool, { now, from, linksMax });
      from = until ?? from;
      if (count > 0) counters.expired(count);
      return count === linksMax;
    },
  };
};
