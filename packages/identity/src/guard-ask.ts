import type { Clock, Log } from "@payment-links/runtime";
import { type Ask, BadAnswer } from "./caller.ts";
import type { IdentityMetrics } from "./identity-metrics.ts";

type GuardOptions = { ask: Ask; clock: Clock; counts: IdentityMetrics; log: Log };

const pauseMs = 500;
const questionsMax = 1_000;

/**
 * Keeps callers from waiting for an auth-keys that does not answer. After a failed question all
 * others fail at once with its error, and one tries again after each half second. A `BadAnswer`
 * does not count, because one credential may cause it. Each change is logged once.
 */
export const guardAsk = ({ ask, clock, counts, log }: GuardOptions): Ask => {
  let failure: { error: unknown; atMs: number } | undefined;
  let isTrying = false;
  let underWay = 0;

  const nowMs = () => clock.now().getTime();
  const mayTry = (failedAtMs: number): boolean => {
    const ageMs = nowMs() - failedAtMs;
    return !isTrying && (ageMs < 0 || ageMs >= pauseMs);
  };
  const reached = () => {
    counts.reached();
    if (failure === undefined) return;
    failure = undefined;
    log.info("auth-keys answers again");
  };
  const failed = (error: unknown) => {
    counts.failed();
    if (failure === undefined) log.warn({ err: error }, "auth-keys does not answer");
    failure = { error, atMs: nowMs() };
  };

  const askCounted: Ask = async (question) => {
    const { kind } = question;
    const end = counts.questionSeconds.startTimer({ kind });
    underWay += 1;
    try {
      const answer = await ask(question);
      counts.questions.inc({ kind, outcome: answer.found ? "found" : "not_found" });
      reached();
      return answer;
    } catch (error) {
      counts.questions.inc({ kind, outcome: "failed" });
      if (error instanceof BadAnswer) reached();
      else failed(error);
      throw error;
    } finally {
      underWay -= 1;
      end();
    }
  };

  return async (question) => {
    if (underWay >= questionsMax) throw new Error("too many questions to auth-keys are under way");
    if (failure === undefined) return askCounted(question);
    if (!mayTry(failure.atMs)) throw failure.error;
    isTrying = true;
    try {
      return await askCounted(question);
    } finally {
      isTrying = false;
    }
  };
};
