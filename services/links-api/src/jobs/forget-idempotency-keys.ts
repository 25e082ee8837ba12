import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { keptMs } from "../domain/idempotency.ts";
import { forgetAnswers } from "../store/idempotency-keys.ts";

const answersMax = 1_000;

/** Deletes the answers of idempotency keys that are past their 24 hours. */
export const forgetIdempotencyKeys = ({ clock, pool }: Pick<Deps, "clock" | "pool">): Job => ({
  name: "idempotency keys",
  waitMs: 60_000,
  run: async () => {
    const before = new Date(clock.now().getTime() - keptMs);
    return (await forgetAnswers(pool, { before, answersMax })) === answersMax;
  },
});
