import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { markExpiredLinks, readMarkedUntil, unmarkExpiredLinks } from "../store/links.ts";
import { createLowerBound } from "./lower-bound.ts";

const linksMax = 1_000;

/**
 * Keeps the stored status of expired links near the truth, so that lists of active links never walk
 * over dead ones. Nothing else depends on it: readers judge expiry by their own clock (rule
 * STATE-3), and what is marked they believe. So what was marked by a clock that was ahead is taken back
 * once that clock is right.
 */
export const createLinkExpiryJob = ({
  clock,
  counters,
  pool,
}: Pick<Dependencies, "clock" | "counters" | "pool">): BackgroundJob => {
  let lowerBound = createLowerBound(clock);
  /** Undefined until it is read: the process before this one may have had a clock that was ahead. */
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
