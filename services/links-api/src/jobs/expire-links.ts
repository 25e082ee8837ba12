import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { markExpired, readMarkedTo, unmarkExpired } from "../store/links.ts";
import { createLowerBound } from "./lower-bound.ts";

const linksMax = 1_000;

/**
 * Keeps the stored status of expired links near the truth, so that lists of active links never walk
 * over dead ones. Nothing else depends on it: readers judge expiry by their own clock (rule
 * STATE-3), and what is marked they believe. So what was marked by a clock that was ahead is taken back
 * once that clock is right.
 */
export const expireLinks = ({
  clock,
  counters,
  pool,
}: Pick<Deps, "clock" | "counters" | "pool">): Job => {
  let bound = createLowerBound(clock);
  /** Undefined until it is read: the process before this one may have had a clock that was ahead. */
  let markedTo: Date | undefined;

  return {
    name: "link expiry",
    waitMs: 1_000,
    run: async () => {
      const now = clock.now();
      markedTo ??= (await readMarkedTo(pool)) ?? new Date(0);
      if (markedTo > now) {
        await unmarkExpired(pool, { now, until: markedTo });
        markedTo = now;
        bound = createLowerBound(clock);
      }
      const order = { now, from: bound.from(), linksMax };
      const { count, until } = await markExpired(pool, order);
      bound.reached(until);
      if (until !== undefined && until > markedTo) markedTo = until;
      if (count > 0) counters.expired(count);
      return count === linksMax;
    },
  };
};
