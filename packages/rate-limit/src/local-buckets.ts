import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Bucket, Decision, Limit } from "./limiter.ts";
import { lacksToken, takeTokens, getTokenMicros } from "./take-tokens.ts";

/** Token buckets in this process's memory. */
export type LocalBuckets = {
  take(buckets: readonly Bucket[]): Decision;
  /**
   * Sets the buckets to the state after a decision of Redis. `requestedAtMs` is the time of the
   * request to Redis.
   */
  synchronize(buckets: readonly Bucket[], decision: Decision, requestedAtMs: number): void;
  /**
   * If a bucket is known to have no token, returns a rejection without taking any tokens.
   * Otherwise, returns `undefined`. The rejection is correct without a request to Redis, because
   * other processes can only take more tokens. It is precise to the millisecond, like the
   * synchronized state.
   */
  rejectFromMemory(buckets: readonly Bucket[]): Decision | undefined;
  /**
   * Returns each bucket's debt in µs if this process took a token since the last synchronization,
   * and 0 otherwise.
   */
  readUnsyncedDebts(buckets: readonly Bucket[]): readonly number[];
};

/**
 * The time at which the bucket is full again, and whether only this process knows it. A record is
 * looked up once per request and then mutated in place.
 */
type BucketRecord = { fullAtMicros: number; isUnsynced: boolean };

/**
 * Creates a store of at most `bucketsMax` buckets per policy. When it is full, it evicts the least
 * recently used bucket, which is then treated as full. The limit applies to each policy, so a flood
 * of addresses cannot evict the buckets of API keys.
 */
export const createLocalBuckets = (clock: Clock, bucketsMax: number): LocalBuckets => {
  // Policies are a few constants in the code.
  const policies = new Map<string, LRUCache<string, BucketRecord>>();

  const getOrCreatePolicyRecords = (policy: string): LRUCache<string, BucketRecord> => {
    const existing = policies.get(policy);
    if (existing !== undefined) return existing;
    const policyRecords = new LRUCache<string, BucketRecord>({ max: bucketsMax });
    policies.set(policy, policyRecords);
    return policyRecords;
  };
  const findRecord = ({ policy, id }: Bucket): BucketRecord | undefined =>
    policies.get(policy)?.get(id);
  const getOrCreateRecord = ({ policy, id }: Bucket): BucketRecord => {
    const policyRecords = getOrCreatePolicyRecords(policy);
    const existing = policyRecords.get(id);
    if (existing !== undefined) return existing;
    const record = { fullAtMicros: 0, isUnsynced: false };
    policyRecords.set(id, record);
    return record;
  };
  const nowMicros = () => Math.round(clock.elapsedMs() * 1000);

  return {
    take: (buckets) => {
      const now = nowMicros();
      const records = buckets.map(getOrCreateRecord);
      const debts = buckets.map(({ limit }, index) => readDebt(records[index], limit, now));
      const decision = takeTokens(buckets, debts);
      if (!decision.isAllowed) return decision;
      for (let index = 0; index < buckets.length; index += 1) {
        const [bucket, record] = [buckets[index], records[index]];
        if (bucket === undefined || record === undefined) continue;
        record.fullAtMicros = now + (debts[index] ?? 0) + getTokenMicros(bucket.limit);
        record.isUnsynced = true;
      }
      return decision;
    },
    synchronize: (buckets, decision, requestedAtMs) => {
      for (let index = 0; index < buckets.length; index += 1) {
        const [bucket, state] = [buckets[index], decision.states[index]];
        if (bucket === undefined || state === undefined) continue;
        const record = getOrCreateRecord(bucket);
        record.fullAtMicros = Math.round((requestedAtMs + state.fullInMs) * 1000);
        record.isUnsynced = false;
      }
    },
    rejectFromMemory: (buckets) => {
      const now = nowMicros();
      let isRejected = false;
      const debts = buckets.map((bucket) => {
        const debt = readDebt(findRecord(bucket), bucket.limit, now);
        if (lacksToken(bucket.limit, debt)) isRejected = true;
        return debt;
      });
      return isRejected ? takeTokens(buckets, debts) : undefined;
    },
    readUnsyncedDebts: (buckets) => {
      const now = nowMicros();
      return buckets.map((bucket) => {
        const record = findRecord(bucket);
        return record?.isUnsynced === true ? readDebt(record, bucket.limit, now) : 0;
      });
    },
  };
};

/**
 * Returns a bucket's debt now. If the clock was set back, limits the debt to one full refill and
 * stores it.
 */
const readDebt = (record: BucketRecord | undefined, limit: Limit, nowMicros: number): number => {
  if (record === undefined) return 0;
  const debt = Math.max(record.fullAtMicros - nowMicros, 0);
  const debtMax = getTokenMicros(limit) * limit.burst;
  if (debt <= debtMax) return debt;
  record.fullAtMicros = nowMicros + debtMax;
  return debtMax;
};
