import { createHash, createHmac } from "node:crypto";
import { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import { type Clock, type Log, type Metrics, afterMs, startLoop } from "@payment-links/runtime";
import { askByTurns } from "./ask-by-turns.ts";
import { countDecisions } from "./decision-counter.ts";
import type { Bucket, Decision, Limit, Limiter } from "./limiter.ts";
import { ownBucketsMax } from "./local-limiter.ts";
import { createOwnBuckets } from "./own-buckets.ts";
import { createRedisHealth } from "./redis-health.ts";
import { takeScript } from "./take-script.ts";
import { takeTokens, tokenMicros } from "./take-tokens.ts";

type RedisLimiterOptions = {
  url: string;
  /** What all processes that share the limits know, and Redis does not. */
  secret: string;
  clock: Clock;
  /** How many processes share the limits. Without Redis each grants its part. */
  replicas: number;
  metrics: Metrics;
  log: Log;
  /** After how long without an answer this process decides; 50 ms unless given. */
  answerTimeoutMs?: number;
};

const defaultAnswerTimeoutMs = 50;
const connectionTimeoutMs = 500;
/** A script keeps everybody else of Redis waiting: these take less than a millisecond. */
const questionsMax = 100;
/** Some 250 bytes each. */
const knownKeysMax = 10_000;
const reconnectWaitMsMax = 1_000;

/**
 * Token buckets in Redis, shared by every process that speaks to it. Without an answer within 50 ms
 * this process decides by its own buckets, which have their part of the limit and start from Redis'
 * last answer (rule API-23). Then no request waits for Redis until it has answered three probes in
 * a row and been told what was taken meanwhile. A caller over its limit is refused from memory
 * until it has a token.
 */
export const createRedisLimiter = (options: RedisLimiterOptions): Limiter => {
  const { clock, log, metrics, replicas, answerTimeoutMs = defaultAnswerTimeoutMs } = options;
  const redis = openRedis(options.url, Math.max(connectionTimeoutMs, answerTimeoutMs));
  const askDebts = createAskDebts(redis, createKeyOf(options.secret), answerTimeoutMs);
  const own = createOwnBuckets(clock, ownBucketsMax);
  const count = countDecisions(metrics);
  const health = createRedisHealth(metrics, log);

  const takeOwn = (buckets: readonly Bucket[]): Decision =>
    own.take(buckets.map((bucket) => ({ ...bucket, limit: partOf(bucket.limit, replicas) })));

  const takeShared = async (buckets: readonly Bucket[]): Promise<Decision> => {
    const askedAtMs = clock.elapsedMs();
    try {
      const debts = await askDebts({ buckets, untold: own.untoldDebts(buckets) });
      const decision = takeTokens(buckets, debts);
      own.adopt(buckets, decision, askedAtMs);
      return decision;
    } catch (error) {
      health.fail(error);
      loop.wake();
      return takeOwn(buckets);
    }
  };

  const takeCounted = async (buckets: readonly Bucket[]): Promise<Decision> => {
    const decision = await takeShared(buckets);
    count(buckets, decision);
    return decision;
  };

  const probe = async () => {
    try {
      if (redis.status === "wait") await redis.connect();
      await askDebts({ buckets: [probeBucket], untold: [0] });
      health.passProbe();
    } catch (error) {
      health.failProbe(error);
      // The next probe must not wait behind what this connection left unanswered.
      if (redis.status === "ready") redis.disconnect(true);
    }
    return afterMs(clock, health.probeWaitMs());
  };
  const loop = startLoop({ name: "rate-limit-probe", clock, log, waitMs: 1_000, run: probe });
  const onClose = () => health.fail(new Error("the connection to Redis was closed"));
  redis.on("error", (error: unknown) => health.fail(error));
  redis.on("close", onClose);
  redis.on("ready", () => loop.wake());

  return {
    take: (buckets) => {
      const decision = health.isGood() ? own.refusal(buckets) : takeOwn(buckets);
      if (decision === undefined) return takeCounted(buckets);
      count(buckets, decision);
      return decision;
    },
    close: async () => {
      redis.off("close", onClose);
      if (redis.status !== "end") redis.disconnect();
      await loop.stop();
    },
  };
};

const openRedis = (url: string, commandTimeout: number): Redis =>
  new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectionTimeoutMs,
    disconnectTimeout: connectionTimeoutMs,
    // This one is for the handshake. It would give up on an answer that this process was too busy
    // to read, so answers have their own, shorter time-out.
    commandTimeout,
    // What cannot be asked at once is decided here. Asked later, it would be charged for nobody.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempts) => Math.min(attempts * 50, reconnectWaitMsMax),
  });

const scriptSha = createHash("sha1").update(takeScript).digest("hex");

/** The buckets of one request, and what they owe that Redis may not know of, in µs. */
type Question = { buckets: readonly Bucket[]; untold: readonly number[] };

/**
 * Makes the question that takes the tokens in Redis and answers each bucket's debt as it was
 * before. It throws after `answerTimeoutMs`.
 */
const createAskDebts = (redis: Redis, keyOf: (bucket: Bucket) => string, answerTimeoutMs: number) =>
  askByTurns<Question, readonly number[]>({
    ask: async (questions) => {
      const buckets = questions.flatMap((question) => question.buckets);
      const reply = await runScript(redis, buckets.length, [
        ...buckets.map(keyOf),
        questions.length,
        ...questions.map((question) => question.buckets.length),
        ...questions.flatMap(parametersOf),
      ]);
      return splitDebts(reply, questions);
    },
    questionsMax,
    timeoutMs: answerTimeoutMs,
  });

const parametersOf = ({ buckets, untold }: Question): number[] =>
  buckets.flatMap(({ limit }, n) => [tokenMicros(limit), limit.burst, untold[n] ?? 0]);

const splitDebts = (reply: unknown, questions: readonly Question[]): number[][] => {
  const count = questions.reduce((sum, { buckets }) => sum + buckets.length, 0);
  if (!Array.isArray(reply) || reply.length !== count || !reply.every(Number.isFinite)) {
    throw new Error("Redis answered something else than one number per bucket");
  }
  let from = 0;
  return questions.map(({ buckets }) => reply.slice(from, (from += buckets.length)));
};

const runScript = async (
  redis: Redis,
  keyCount: number,
  parameters: readonly (string | number)[],
): Promise<unknown> => {
  try {
    return await redis.evalsha(scriptSha, keyCount, ...parameters);
  } catch (error) {
    const isUnknown = error instanceof Error && error.message.startsWith("NOSCRIPT");
    if (!isUnknown) throw error;
    return redis.eval(takeScript, keyCount, ...parameters);
  }
};

// One slot of a cluster for all buckets, because one script must reach several of them.
const keyPrefix = "{payment-links:rate-limit:v2}";

/**
 * The id's HMAC, cut to 132 bits: whoever reads Redis could try every IPv4 address against a hash
 * without a secret.
 */
const createKeyOf = (secret: string): ((bucket: Bucket) => string) => {
  const keys = new LRUCache<string, string>({ max: knownKeysMax });
  return ({ policy, id }) => {
    const name = `${policy}:${id}`;
    const known = keys.get(name);
    if (known !== undefined) return known;
    const sealed = createHmac("sha256", secret).update(id).digest("base64url");
    const key = `${keyPrefix}:${policy}:${sealed.slice(0, 22)}`;
    keys.set(name, key);
    return key;
  };
};

const probeBucket: Bucket = {
  policy: "probe",
  id: "probe",
  limit: { tokensPerSecond: 1_000, burst: 1_000 },
};

/** What each of several processes grants while they cannot share. */
const partOf = ({ tokensPerSecond, burst }: Limit, replicas: number): Limit => ({
  tokensPerSecond: tokensPerSecond / replicas,
  burst: Math.max(1, Math.floor(burst / replicas)),
});
