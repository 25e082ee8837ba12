import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { markExpiredLinks, readMarkedUntil, unmarkExpiredLinks } from "../store/links.ts";
import { createLowerBound } from "./lower-bound.ts";

const linksMax = 1_000;

/**
 * Marks links as inactive soon after they expire, so that lists of active links do not scan expired
 * ones. Statuses in responses do not depend on this job, because readers compare the expiry with
 * their own clock (rule STATE-3). But readers do trust the mark. If a process with a fast clock has
 * marked links too early, the job reactivates them once its own clock is correct.
 */
export const expireLinks = ({
  clock,
  counters,
  pool,
}: Pick<Dependencies, "clock" | "counters" | "pool">): BackgroundJob => {
  let lowerBound = createLowerBound(clock);
  /**
   * The latest expiry that any process has marked. Undefined until it is read. It can be in the
   * future, because another process may have had a fast clock.
   */
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
