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
  /** A secret that all processes share and that is not stored in Redis. */
  secret: string;
  clock: Clock;
  /**
   * The number of processes that share the limits. Without Redis, each process enforces its share
   * of a limit.
   */
  replicas: number;
  metrics: Metrics;
  log: Log;
  /** How long to wait for Redis before this process decides without it. Default: 50 ms. */
  replyTimeoutMs?: number;
};

const defaultReplyTimeoutMs = 50;
const connectionTimeoutMs = 500;
/**
 * A running script blocks all other clients of Redis. A script for this many requests takes less
 * than a millisecond.
 */
const batchSizeMax = 100;
/** Each cached key uses about 250 bytes. */
const cachedKeysMax = 10_000;
const reconnectDelayMsMax = 1_000;

/**
 * Creates token buckets in Redis that all processes share. If Redis does not reply within 50 ms,
 * this process decides with its own buckets, which hold its share of the limit and start from the
 * last reply (rule API-23). After three successful probes in a row, requests use Redis again. The
 * tokens taken in the meantime are sent with the next request for their bucket. If a caller is over
 * its limit, its requests are rejected from memory until it has a token.
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
      // Reconnects, so that the next probe does not wait behind commands without a reply.
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
    // This timeout is for the handshake. `batchPerTick` has its own, shorter timeout for commands,
    // because this one also expires when the process was too busy to read the reply.
    commandTimeout,
    // If a command cannot be sent now, the request is decided locally. A queued command would
    // charge a request that has already been decided.
    enableOfflineQueue: false,
    // Rejects commands as soon as their connection is lost. With 1, they would wait for the next
    // connection, and then be dropped without a rejection.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempts) => Math.min(attempts * 50, reconnectDelayMsMax),
  });

const takeScriptSha = createHash("sha1").update(takeScript).digest("hex");

/** The buckets of one request, and their debts in µs that Redis may not know yet. */
type TakeRequest = { buckets: readonly Bucket[]; unsyncedDebts: readonly number[] };

/**
 * Creates a function that takes tokens in Redis and returns each bucket's previous debt. The
 * function throws after `replyTimeoutMs`.
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
  const bucketCount = requests.reduce((sum, { buckets }) => sum + buckets.length, 0);
  if (!Array.isArray(reply) || reply.length !== bucketCount || !reply.every(Number.isFinite)) {
    throw new Error("Redis did not return one number per bucket");
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

// The hash tag puts all buckets into one cluster slot, because one script has to access several of
// them.
const keyPrefix = "{payment-links:rate-limit:v2}";

/**
 * Creates a function that returns a bucket's Redis key, which contains the id's HMAC, truncated to
 * 132 bits. Without a secret, anyone with access to Redis could reverse a hash by trying every IPv4
 * address.
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

/** Returns one process's share of a limit while the processes cannot share it through Redis. */
const divideLimit = ({ tokensPerSecond, burst }: Limit, replicas: number): Limit => ({
  tokensPerSecond: tokensPerSecond / replicas,
  burst: Math.max(1, Math.floor(burst / replicas)),
});
