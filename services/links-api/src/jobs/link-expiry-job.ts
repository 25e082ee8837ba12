import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { markExpiredLinks, readMarkedUntil, unmarkExpiredLinks } from "../store/links.ts";
import { createLowerBound } from "./lower-bound.ts";

const linksMax = 1_000;

/**
 * Marks expired links as inactive soon after their expiry, so lists of active links do not scan
 * expired ones. Nothing else depends on it: readers compare the expiry with their own clock (rule
 * STATE-3). But they trust a link that is marked. If a fast clock marked links too early, the job
 * reverts that once the clock is right.
 */
export const createLinkExpiryJob = ({
  clock,
  counters,
  pool,
}: Pick<Dependencies, "clock" | "counters" | "pool">): BackgroundJob => {
  let lowerBound = createLowerBound(clock);
  /** Undefined until it is read: the previous process may have had a fast clock. */
  let markedUntil: Date | undefined;

  return {
    name: "link expiry",
    waitMs: 1_000,
    run: async () => {
      const now = clock.now();
      markedUntil ??= (await readMarkedUntil(pool)) ?? new Date(0);
      if (markedUntil > now) {
        await unmarkExpiredLinks(pool, { now, until: markedUntil });
        markedUntil = now;
        lowerBound = createLowerBound(clock);
      }
      const range = { now, from: lowerBound.getStartTime(), linksMax };
      const { count, until } = await markExpiredLinks(pool, range);
      lowerBound.advanceTo(until);
      if (until !== undefined && until > markedUntil) markedUntil = until;
      if (count > 0) counters.countExpiredLinks(count);
      return count === linksMax;
    },
  };
};
