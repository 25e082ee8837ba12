import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { markExpired } from "../store/links.ts";
import { createLowerBound } from "./lower-bound.ts";

const linksMax = 1_000;

/**
 * Keeps the stored status of expired links near the truth, so that lists of active links never walk
 * over dead ones. Nothing else depends on it: readers judge expiry by their own clock (rule
 * STATE-3).
 */
export const expireLinks = ({
  clock,
  counters,
  pool,
}: Pick<Deps, "clock" | "counters" | "pool">): Job => {
  const bound = createLowerBound(clock);
  return {
    name: "link expiry",
    waitMs: 1_000,
    run: async () => {
      const order = { now: clock.now(), from: bound.from(), linksMax };
      const { count, until } = await markExpired(pool, order);
      bound.reached(until);
      if (count > 0) counters.expired(count);
      return count === linksMax;
    },
  };
};
