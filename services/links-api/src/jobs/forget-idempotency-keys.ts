import { type Loop, startLoop } from "@payment-links/runtime";
import type { Deps } from "../deps.ts";
import { keptMs } from "../domain/idempotency.ts";
import { forgetAnswers } from "../store/idempotency-keys.ts";

const everyMs = 60_000;
const answersMax = 1_000;

/** Deletes the answers of idempotency keys that are past their 24 hours. */
export const startForgetting = (deps: Pick<Deps, "pool" | "clock" | "log">): Loop =>
  startLoop({
    name: "idempotency keys",
    clock: deps.clock,
    log: deps.log,
    waitMs: everyMs,
    run: async () => {
      const before = new Date(deps.clock.now().getTime() - keptMs);
      return (await forgetAnswers(deps.pool, { before, answersMax })) === answersMax;
    },
  });
