import { LRUCache } from "lru-cache";
import type { Clock } from "@payment-links/runtime";
import type { Bucket, Decision, Limit } from "./limiter.ts";
import { lacksToken, takeTokens, getTokenMicros } from "./take-tokens.ts";

/** Buckets in this process' memory. */
export type LocalBuckets = {
  take(buckets: readonly Bucket[]): Decision;
  /** Sets the buckets to the state after a decision that was asked for elsewhere at `requestedAtMs`. */
  synchronize(buckets: readonly Bucket[], decision: Decision, requestedAtMs: number): void;
  /**
   * The refusal of a request that some bucket cannot pay, by the states that were adopted.
   * Undefined says nothing. It takes no token. Others can only empty a bucket further, so the
   * refusal is right without asking, to within the millisecond of the adopted state.
   */
  rejectFromMemory(buckets: readonly Bucket[]): Decision | undefined;
  /**
   * Each bucket's debt in µs if something was taken here since it was last adopted; otherwise 0.
   */
  readUnsyncedDebts(buckets: readonly Bucket[]): readonly number[];
};

/**
 * When a bucket is full again, and whether only this process knows that. It is looked up once per
 * request and then changed in place.
 */
type BucketRecord = { fullAtMicros: number; isUnsynced: boolean };

/**
 * Keeps at most `bucketsMax` buckets of each policy. It forgets the one that is unused for longest,
 * which fills that one up. So a flood of addresses pushes no key's bucket out.
 */
export const createLocalBuckets = (clock: Clock, bucketsMax: number): LocalBuckets => {
  // Policies are words of the code, a handful of them.
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

/** A bucket's debt now. If the clock fell back, it is cut to one whole refill, and stays cut. */
const readDebt = (record: BucketRecord | undefined, limit: Limit, nowMicros: number): number => {
  if (record === undefined) return 0;
  const debt = Math.max(record.fullAtMicros - nowMicros, 0);
  const debtMax = getTokenMicros(limit) * limit.burst;
  if (debt <= debtMax) return debt;
  record.fullAtMicros = nowMicros + debtMax;
  return debtMax;
};
