import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { retentionMs } from "../domain/idempotency.ts";
import { deleteExpiredResponses } from "../store/idempotency-keys.ts";
import { createLowerBound } from "./lower-bound.ts";

const responsesMax = 1_000;

/** Deletes stored responses of idempotency keys once they are 24 hours old. */
export const deleteIdempotencyKeys = ({
  clock,
  pool,
}: Pick<Dependencies, "clock" | "pool">): BackgroundJob => {
  const lowerBound = createLowerBound(clock);
  return {
    name: "idempotency keys",
    waitMs: 60_000,
    run: async () => {
      const createdBefore = new Date(clock.now().getTime() - retentionMs);
      const range = { createdBefore, from: lowerBound.getStartTime(), responsesMax };
      const { count, until } = await deleteExpiredResponses(pool, range);
      lowerBound.advanceTo(until);
      return count === responsesMax;
    },
  };
};
