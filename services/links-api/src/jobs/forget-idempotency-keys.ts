import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { keptMs } from "../domain/idempotency.ts";
import { forgetAnswers } from "../store/idempotency-keys.ts";
import { createLowerBound } from "./lower-bound.ts";

const answersMax = 1_000;

/** Deletes the answers of idempotency keys that are past their 24 hours. */
export const forgetIdempotencyKeys = ({ clock, pool }: Pick<Deps, "clock" | "pool">): Job => {
  const bound = createLowerBound(clock);
  return {
    name: "idempotency keys",
    waitMs: 60_000,
    run: async () => {
      const before = new Date(clock.now().getTime() - keptMs);
      const order = { before, from: bound.from(), answersMax };
      const { count, until } = await forgetAnswers(pool, order);
      bound.reached(until);
      return count === answersMax;
    },
  };
};
