import { LRUCache } from "lru-cache";
import type { IntrospectionAnswer, IntrospectionQuestion } from "@payment-links/contracts";
import type { Clock } from "@payment-links/runtime";
import { type Ask, type Caller, IdentityUnavailable } from "./caller.ts";
import type { IdentityMetrics } from "./identity-metrics.ts";

/**
 * What auth-keys said of a credential. No caller means that it knows none. The age counts from the
 * question.
 */
type Answer = { asked: Instants; caller: Caller | undefined };

/** By the time of day, and by the clock that is never set back. */
type Instants = { dayMs: number; elapsedMs: number };

/** How fresh an answer must be, and from which address the credential is used, if that is told. */
type Wanted = { freshMs: number; address?: string | undefined };

/** The answers about one kind of credential, by its hash. */
export type Answers = {
  /** The answer that is kept, if it is at most `freshMs` old. */
  known(hash: string, freshMs: number): Answer | undefined;
  /**
   * An answer at most `freshMs` old, otherwise a stale one if that is allowed, otherwise
   * IdentityUnavailable.
   */
  get(hash: string, wanted: Wanted): Promise<Answer>;
  forget(hash: string): void;
};

type FoundAnswer = Extract<IntrospectionAnswer, { found: true }>;

type AnswersOptions = {
  kind: IntrospectionQuestion["kind"];
  service?: IntrospectionQuestion["service"];
  ask: Ask;
  clock: Clock;
  counts: IdentityMetrics;
};

/** Callers that want an answer this fresh change something, and never take a stale one. */
const strictFreshMs = 1_000;
const staleMsMax = 60_000;
const notFoundFreshMsMax = 5_000;
/**
 * The first question may have been under way already, and a pod that starts or ends can hold up the
 * next one.
 */
const questionsMax = 3;
const foundMax = 10_000;
const notFoundMax = 10_000;

/** Keeps answers, and asks one question at a time per credential, however many callers wait for it. */
export const createAnswers = ({ kind, service, ask, clock, counts }: AnswersOptions): Answers => {
  // They are apart so that a flood of invented keys pushes no real key out.
  const found = new LRUCache<string, Answer>({ max: foundMax });
  const notFound = new LRUCache<string, Answer>({ max: notFoundMax });
  const asking = new Map<string, Promise<Answer>>();

  const isWithin = ({ asked }: Answer, ageMsMax: number): boolean =>
    ageOf(asked, instantsOf(clock)) <= ageMsMax;

  const kept = (hash: string): Answer | undefined => found.get(hash) ?? notFound.get(hash);

  const known = (hash: string, freshMs: number): Answer | undefined => {
    const answer = kept(hash);
    if (answer === undefined) return undefined;
    const ageMsMax = answer.caller === undefined ? Math.min(freshMs, notFoundFreshMsMax) : freshMs;
    return isWithin(answer, ageMsMax) ? answer : undefined;
  };

  const keep = (hash: string, answer: Answer): void => {
    const [right, wrong] = answer.caller === undefined ? [notFound, found] : [found, notFound];
    wrong.delete(hash);
    right.set(hash, answer);
  };

  const question = (hash: string, address: string | undefined): Promise<Answer> => {
    const underWay = asking.get(hash);
    if (underWay !== undefined) return underWay;
    const askedAt = instantsOf(clock);
    // A session that was forgotten meanwhile stays forgotten: only the question on record keeps its
    // answer.
    const isOnRecord = (): boolean => asking.get(hash) === asked && asking.delete(hash);
    const asked = ask({ kind, hash, address, ...(service === undefined ? {} : { service }) }).then(
      (reply) => {
        const caller = reply.found ? callerOf(reply) : undefined;
        const answer: Answer = { asked: askedAt, caller };
        if (isOnRecord()) keep(hash, answer);
        return answer;
      },
      (error: unknown) => {
        isOnRecord();
        throw error;
      },
    );
    asking.set(hash, asked);
    return asked;
  };

  const askFresh = async (hash: string, { freshMs, address }: Wanted): Promise<Answer> => {
    for (let asked = 0; asked < questionsMax; asked += 1) {
      const answer = await question(hash, address);
      if (isWithin(answer, freshMs)) return answer;
    }
    throw new Error("the answer of auth-keys came too late");
  };

  return {
    known,
    get: async (hash, wanted) => {
      const { freshMs } = wanted;
      const fresh = known(hash, freshMs);
      if (fresh !== undefined) return fresh;
      try {
        return await askFresh(hash, wanted);
      } catch (error) {
        const last = freshMs <= strictFreshMs ? undefined : kept(hash);
        if (last === undefined || !isWithin(last, staleMsMax)) {
          throw new IdentityUnavailable("it cannot be told who is calling", { cause: error });
        }
        counts.staleAnswers.inc({ kind });
        return last;
      }
    },
    // What auth-keys did not know stays unknown: a secret is never given out twice.
    forget: (hash) => {
      found.delete(hash);
      asking.delete(hash);
    },
  };
};

const instantsOf = (clock: Clock): Instants => ({
  dayMs: clock.now().getTime(),
  elapsedMs: clock.elapsedMs(),
});

/**
 * The time of day can be set back, and the other clock may rest while its machine does: an answer is as old
 * as either says. One from the future is of unknown age, and counts as too old.
 */
const ageOf = (asked: Instants, now: Instants): number => {
  const dayMs = now.dayMs - asked.dayMs;
  return dayMs < 0 ? Infinity : Math.max(dayMs, now.elapsedMs - asked.elapsedMs);
};

const callerOf = ({ account, credential }: FoundAnswer): Caller => ({ account, credential });
