import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { Redis } from "ioredis";
import type { Bucket } from "./limiter.ts";
import { takeScript } from "./take-script.ts";
import { takeTokens, getTokenMicros } from "./take-tokens.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";
import { createBucketModel, getBucketSizes } from "./testing/bucket-model.ts";
import { claimRedisDatabase } from "./testing/claim-redis-database.ts";

const nowMicros = 1_800_000_000_123_457n;

/** The real script, except that the last two arguments replace its clock. */
const fixedClockScript = takeScript.replace(
  "redis.call('TIME')",
  "{ ARGV[#ARGV - 1], ARGV[#ARGV] }",
);
const fixedTime = [Number(nowMicros / 1_000_000n), Number(nowMicros % 1_000_000n)];

/** A debt before the script runs, as a number of tokens plus a few µs. */
const arbitraryDebt = fc.oneof(
  fc.constant(undefined),
  fc.record({
    tokens: fc.oneof(fc.constantFrom(-1, 0, 1, 2), fc.integer({ min: -3, max: 100_003 })),
    micros: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: -500, max: 500 })),
  }),
);

type DebtOffset = { tokens: number; micros: number } | undefined;

const toDebt = (bucket: Bucket, debtOffset: DebtOffset): bigint | undefined =>
  debtOffset === undefined
    ? undefined
    : BigInt(debtOffset.tokens) * getBucketSizes(bucket).token + BigInt(debtOffset.micros);

/** Converts a reply of Redis' TIME to whole milliseconds, which is the precision of a key's TTL. */
const toMs = (time: unknown): number => {
  const [seconds, micros] = time as [string, string];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
};

/** Returns the script's arguments for each bucket. */
const toScriptArguments = (buckets: readonly Bucket[], unsyncedDebts: readonly bigint[]) =>
  buckets.flatMap(({ limit }, index) => [
    getTokenMicros(limit),
    limit.burst,
    String(unsyncedDebts[index] ?? 0n),
  ]);

const clampToZero = (debt: bigint): bigint => (debt < 0n ? 0n : debt);

describe("takeScript", () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = new Redis(await claimRedisDatabase());
  });
  afterAll(() => redis.quit());

  /** Sets the buckets, runs the script and reads the result in one atomic transaction. */
  const runScript = async (
    buckets: readonly Bucket[],
    fullAtMicrosByBucket: readonly (bigint | undefined)[],
    unsyncedDebts: readonly bigint[],
  ) => {
    const runId = randomUUID();
    const keys = buckets.map((_, index) => `test:${runId}:${index}`);
    const scriptArguments = [1, buckets.length, ...toScriptArguments(buckets, unsyncedDebts)];
    const transaction = redis.multi().time();
    fullAtMicrosByBucket.forEach((fullAtMicros, index) => {
      if (fullAtMicros !== undefined)
        transaction.set(keys[index] ?? "", String(fullAtMicros), "PX", 60_000);
    });
    transaction.eval(fixedClockScript, keys.length, ...keys, ...scriptArguments, ...fixedTime);
    for (const key of keys) transaction.get(key).pttl(key);
    transaction.time().del(...keys);
    const replies = (await transaction.exec())?.map(([error, reply]) => {
      if (error !== null) throw error;
      return reply;
    });
    const presetCount = fullAtMicrosByBucket.filter(
      (fullAtMicros) => fullAtMicros !== undefined,
    ).length;
    const [debts, ...laterReplies] = replies?.slice(1 + presetCount) ?? [];
    const left = keys.map((_, index) => ({
      text: laterReplies[2 * index],
      ttlMs: laterReplies[2 * index + 1],
    }));
    const tookMs = toMs(laterReplies[2 * keys.length]) - toMs(replies?.[0]);
    return { debts: debts as number[], left, tookMs };
  };

  test("decides, stores and expires as the exact model does, from any state of the buckets", async () => {
    expect(fixedClockScript).not.toBe(takeScript);
    const arbitraryDebts = fc.array(arbitraryDebt, { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        arbitraryBuckets,
        arbitraryDebts,
        arbitraryDebts,
        async (buckets, storedOffsets, unsyncedOffsets) => {
          const model = createBucketModel();
          const storedDebts = buckets.map((bucket, index) => toDebt(bucket, storedOffsets[index]));
          const unsyncedDebts = buckets.map((bucket, index) =>
            clampToZero(toDebt(bucket, unsyncedOffsets[index]) ?? 0n),
          );
          const fullAtMicrosByBucket = storedDebts.map((debt) =>
            debt === undefined ? debt : nowMicros + debt,
          );
          buckets.forEach((bucket, index) => {
            const { capacity } = getBucketSizes(bucket);
            const [debt, unsyncedDebt] = [
              clampToZero(storedDebts[index] ?? 0n),
              unsyncedDebts[index] ?? 0n,
            ];
            const largerDebt = unsyncedDebt > debt ? unsyncedDebt : debt;
            model.setLevel(bucket, largerDebt > capacity ? 0n : capacity - largerDebt, nowMicros);
          });
          const expected = model.take(buckets, nowMicros);

          const { debts, left, tookMs } = await runScript(
            buckets,
            fullAtMicrosByBucket,
            unsyncedDebts,
          );

          expect(takeTokens(buckets, debts)).toEqual(expected);
          buckets.forEach((bucket, index) => {
            const { text, ttlMs } = left[index] ?? {};
            if (!expected.isAllowed) {
              const debt = storedDebts[index];
              // The script changes the stored debt for only two reasons: the unsynced debt is
              // larger, or the stored debt is too large to be correct, for example after the clock
              // was set back.
              const largerDebt =
                (unsyncedDebts[index] ?? 0n) > clampToZero(debt ?? 0n)
                  ? unsyncedDebts[index]
                  : debt;
              const { capacity } = getBucketSizes(bucket);
              const boundedDebt =
                largerDebt !== undefined && largerDebt > capacity ? capacity : largerDebt;
              const fullAtMicros = boundedDebt === undefined ? undefined : nowMicros + boundedDebt;
              return expect(text ?? undefined).toBe(fullAtMicros?.toString());
            }
            const debt = getBucketSizes(bucket).capacity - model.getLevel(bucket, nowMicros);
            expect(text).toBe(String(nowMicros + debt));
            // The key must not expire before the bucket is full. If it expires a little later, this
            // only costs memory. Redis' clock can advance between the write and the read.
            const fullInMs = expected.states[index]?.fullInMs ?? 0;
            expect(ttlMs).toBeGreaterThanOrEqual(fullInMs - tookMs);
            return expect(ttlMs).toBeLessThanOrEqual(fullInMs + 2);
          });
        },
      ),
      { numRuns: 500, seed: 20_261_128 },
    );
  });

  test("processes many requests of one call as if they had come one after the other", async () => {
    const arbitraryRequests = fc.array(fc.subarray([0, 1, 2], { minLength: 1 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(arbitraryBuckets, arbitraryRequests, async (allBuckets, pickedIndexes) => {
        const model = createBucketModel();
        const runId = randomUUID();
        const toKey = (bucket: Bucket) => `test:${runId}:${allBuckets.indexOf(bucket)}`;
        const requests = pickedIndexes
          .map((indexes) => indexes.flatMap((index) => allBuckets[index] ?? []))
          .filter((buckets) => buckets.length > 0);
        const requestedBuckets = requests.flat();
        const expected = requests.map((buckets) => model.take(buckets, nowMicros));

        const scriptArguments = [
          requests.length,
          ...requests.map((buckets) => buckets.length),
          ...toScriptArguments(requestedBuckets, []),
          ...fixedTime,
        ];
        const keys = requestedBuckets.map(toKey);
        // Uses one transaction, because some keys expire after 2 ms.
        const transaction = redis
          .multi()
          .eval(fixedClockScript, keys.length, ...keys, ...scriptArguments);
        for (const bucket of allBuckets) transaction.getdel(toKey(bucket));
        const [debts, ...storedDebts] = (await transaction.exec())?.map(([, reply]) => reply) ?? [];

        const unsyncedOffsets = [...(debts as number[])];
        const decisions = requests.map((buckets) =>
          takeTokens(buckets, unsyncedOffsets.splice(0, buckets.length)),
        );
        expect(decisions).toEqual(expected);
        allBuckets.forEach((bucket, index) => {
          const isTaken = requests.some(
            (buckets, requestIndex) =>
              expected[requestIndex]?.isAllowed === true && buckets.includes(bucket),
          );
          const debt = getBucketSizes(bucket).capacity - model.getLevel(bucket, nowMicros);
          expect(storedDebts[index]).toBe(isTaken ? String(nowMicros + debt) : null);
        });
      }),
      { numRuns: 300, seed: 20_261_128 },
    );
  });
});
