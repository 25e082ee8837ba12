import { createHash, createHmac } from "node:crypto";
import { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import { type Clock, type Log, type Metrics, afterMs, startLoop } from "@payment-links/runtime";
import { batchPerTick } from "./batch-per-tick.ts";
import { createDecisionCounter } from "./decision-counter.ts";
import type { Bucket, Decision, Limit, Limiter } from "./limiter.ts";
import { localBucketsMax } from "./local-limiter.ts";
import { createLocalBuckets } from "./local-buckets.ts";
import { createRedisHealth } from "./redis-health.ts";
import { takeScript } from "./take-script.ts";
import { takeTokens, getTokenMicros } from "./take-tokens.ts";

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
  replyTimeoutMs?: number;
};

const defaultReplyTimeoutMs = 50;
const connectionTimeoutMs = 500;
/** A script keeps everybody else of Redis waiting: these take less than a millisecond. */
const batchSizeMax = 100;
/** Some 250 bytes each. */
const cachedKeysMax = 10_000;
const reconnectDelayMsMax = 1_000;

/**
 * Token buckets in Redis, shared by every process that speaks to it. Without an answer within 50 ms
 * this process decides by its own buckets, which have their part of the limit and start from Redis'
 * last answer (rule API-23). Then no request waits for Redis until it has answered three probes in
 * a row and been told what was taken meanwhile. A caller over its limit is refused from memory
 * until it has a token.
 */
export const createRedisLimiter = (options: RedisLimiterOptions): Limiter => {
  const { clock, log, metrics, replicas, replyTimeoutMs = defaultReplyTimeoutMs } = options;
  const redis = createRedisClient(options.url, Math.max(connectionTimeoutMs, replyTimeoutMs));
  const takeInRedis = createRedisTaker(redis, createRedisKeyMapper(options.secret), replyTimeoutMs);
  const localBuckets = createLocalBuckets(clock, localBucketsMax);
  const countDecision = createDecisionCounter(metrics);
  const health = createRedisHealth(metrics, log);

  const takeLocally = (buckets: readonly Bucket[]): Decision =>
    localBuckets.take(
      buckets.map((bucket) => ({ ...bucket, limit: divideLimit(bucket.limit, replicas) })),
    );

  const takeShared = async (buckets: readonly Bucket[]): Promise<Decision> => {
    const requestedAtMs = clock.elapsedMs();
    try {
      const debts = await takeInRedis({
        buckets,
        unsyncedDebts: localBuckets.readUnsyncedDebts(buckets),
      });
      const decision = takeTokens(buckets, debts);
      localBuckets.synchronize(buckets, decision, requestedAtMs);
      return decision;
    } catch (error) {
      health.recordFailure(error);
      loop.wake();
      return takeLocally(buckets);
    }
  };

  const takeSharedAndCount = async (buckets: readonly Bucket[]): Promise<Decision> => {
    const decision = await takeShared(buckets);
    countDecision(buckets, decision);
    return decision;
  };

  const runProbe = async () => {
    try {
      if (redis.status === "wait") await redis.connect();
      await takeInRedis({ buckets: [probeBucket], unsyncedDebts: [0] });
      health.recordProbeSuccess();
    } catch (error) {
      health.recordProbeFailure(error);
      // The next probe must not wait behind what this connection left unanswered.
      if (redis.status === "ready") redis.disconnect(true);
    }
    return afterMs(clock, health.getProbeDelayMs());
  };
  const loop = startLoop({ name: "rate-limit-probe", clock, log, waitMs: 1_000, run: runProbe });
  const handleClose = () => health.recordFailure(new Error("the connection to Redis was closed"));
  redis.on("error", (error: unknown) => health.recordFailure(error));
  redis.on("close", handleClose);
  redis.on("ready", () => loop.wake());

  return {
    take: (buckets) => {
      const decision = health.isHealthy()
        ? localBuckets.rejectFromMemory(buckets)
        : takeLocally(buckets);
      if (decision === undefined) return takeSharedAndCount(buckets);
      countDecision(buckets, decision);
      return decision;
    },
    close: async () => {
      redis.off("close", handleClose);
      if (redis.status !== "end") redis.disconnect();
      await loop.stop();
    },
  };
};

const createRedisClient = (url: string, commandTimeout: number): Redis =>
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
    retryStrategy: (attempts) => Math.min(attempts * 50, reconnectDelayMsMax),
  });

const takeScriptSha = createHash("sha1").update(takeScript).digest("hex");

/** The buckets of one request, and what they owe that Redis may not know of, in µs. */
type TakeRequest = { buckets: readonly Bucket[]; unsyncedDebts: readonly number[] };

/**
 * Makes the question that takes the tokens in Redis and answers each bucket's debt as it was
 * before. It throws after `replyTimeoutMs`.
 */
const createRedisTaker = (
  redis: Redis,
  toRedisKey: (bucket: Bucket) => string,
  replyTimeoutMs: number,
) =>
  batchPerTick<TakeRequest, readonly number[]>({
    runBatch: async (requests) => {
      const buckets = requests.flatMap((request) => request.buckets);
      const reply = await runScript(redis, buckets.length, [
        ...buckets.map(toRedisKey),
        requests.length,
        ...requests.map((request) => request.buckets.length),
        ...requests.flatMap(toScriptArguments),
      ]);
      return splitDebts(reply, requests);
    },
    batchSizeMax,
    timeoutMs: replyTimeoutMs,
  });

const toScriptArguments = ({ buckets, unsyncedDebts }: TakeRequest): number[] =>
  buckets.flatMap(({ limit }, index) => [
    getTokenMicros(limit),
    limit.burst,
    unsyncedDebts[index] ?? 0,
  ]);

const splitDebts = (reply: unknown, requests: readonly TakeRequest[]): number[][] => {
  const countDecision = requests.reduce((sum, { buckets }) => sum + buckets.length, 0);
  if (!Array.isArray(reply) || reply.length !== countDecision || !reply.every(Number.isFinite)) {
    throw new Error("Redis answered something else than one number per bucket");
  }
  let offset = 0;
  return requests.map(({ buckets }) => reply.slice(offset, (offset += buckets.length)));
};

const runScript = async (
  redis: Redis,
  keyCount: number,
  scriptArguments: readonly (string | number)[],
): Promise<unknown> => {
  try {
    return await redis.evalsha(takeScriptSha, keyCount, ...scriptArguments);
  } catch (error) {
    const isScriptMissing = error instanceof Error && error.message.startsWith("NOSCRIPT");
    if (!isScriptMissing) throw error;
    return redis.eval(takeScript, keyCount, ...scriptArguments);
  }
};

// One slot of a cluster for all buckets, because one script must reach several of them.
const keyPrefix = "{payment-links:rate-limit:v2}";

/**
 * The id's HMAC, cut to 132 bits: whoever reads Redis could try every IPv4 address against a hash
 * without a secret.
 */
const createRedisKeyMapper = (secret: string): ((bucket: Bucket) => string) => {
  const keys = new LRUCache<string, string>({ max: cachedKeysMax });
  return ({ policy, id }) => {
    const bucketName = `${policy}:${id}`;
    const cachedKey = keys.get(bucketName);
    if (cachedKey !== undefined) return cachedKey;
    const idHmac = createHmac("sha256", secret).update(id).digest("base64url");
    const key = `${keyPrefix}:${policy}:${idHmac.slice(0, 22)}`;
    keys.set(bucketName, key);
    return key;
  };
};

const probeBucket: Bucket = {
  policy: "probe",
  id: "probe",
  limit: { tokensPerSecond: 1_000, burst: 1_000 },
};

/** What each of several processes grants while they cannot share. */
const divideLimit = ({ tokensPerSecond, burst }: Limit, replicas: number): Limit => ({
  tokensPerSecond: tokensPerSecond / replicas,
  burst: Math.max(1, Math.floor(burst / replicas)),
});
