import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { Redis } from "ioredis";
import type { Bucket } from "./limiter.ts";
import { takeScript } from "./take-script.ts";
import { takeTokens, tokenMicros } from "./take-tokens.ts";
import { arbitraryBuckets } from "./testing/arbitrary-bucket.ts";
import { createBucketModel, sizesOf } from "./testing/bucket-model.ts";
import { claimRedisDatabase } from "./testing/claim-redis-database.ts";

const nowMicros = 1_800_000_000_123_457n;

/** The script as it is, except that the last two arguments hold its clock. */
const heldScript = takeScript.replace("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }");
const heldTime = [Number(nowMicros / 1_000_000n), Number(nowMicros % 1_000_000n)];

/** A debt before the script runs: some tokens short of full, plus some µs. */
const arbitraryStand = fc.oneof(
  fc.constant(undefined),
  fc.record({
    tokens: fc.oneof(fc.constantFrom(-1, 0, 1, 2), fc.integer({ min: -3, max: 100_003 })),
    micros: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: -500, max: 500 })),
  }),
);

type Stand = { tokens: number; micros: number } | undefined;

const debtOf = (bucket: Bucket, stand: Stand): bigint | undefined =>
  stand === undefined
    ? undefined
    : BigInt(stand.tokens) * sizesOf(bucket).token + BigInt(stand.micros);

/** What Redis' TIME answers, in whole milliseconds, which is how it counts a key's time to live. */
const msOf = (time: unknown): number => {
  const [seconds, micros] = time as [string, string];
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
};

/** What the script is told of each bucket. */
const parametersOf = (buckets: readonly Bucket[], untold: readonly bigint[]) =>
  buckets.flatMap(({ limit }, index) => [
    tokenMicros(limit),
    limit.burst,
    String(untold[index] ?? 0n),
  ]);

const atLeast0 = (debt: bigint): bigint => (debt < 0n ? 0n : debt);

describe("takeScript", () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = new Redis(await claimRedisDatabase());
  });
  afterAll(() => redis.quit());

  /** One atomic step: put the buckets where they stand, take, and look at what is left. */
  const step = async (
    buckets: readonly Bucket[],
    fullAts: readonly (bigint | undefined)[],
    untold: readonly bigint[],
  ) => {
    const run = randomUUID();
    const keys = buckets.map((_, index) => `test:${run}:${index}`);
    const parameters = [1, buckets.length, ...parametersOf(buckets, untold)];
    const work = redis.multi().time();
    fullAts.forEach((fullAt, index) => {
      if (fullAt !== undefined) work.set(keys[index] ?? "", String(fullAt), "PX", 60_000);
    });
    work.eval(heldScript, keys.length, ...keys, ...parameters, ...heldTime);
    for (const key of keys) work.get(key).pttl(key);
    work.time().del(...keys);
    const replies = (await work.exec())?.map(([error, reply]) => {
      if (error !== null) throw error;
      return reply;
    });
    const planted = fullAts.filter((fullAt) => fullAt !== undefined).length;
    const [debts, ...rest] = replies?.slice(1 + planted) ?? [];
    const left = keys.map((_, index) => ({ text: rest[2 * index], ttlMs: rest[2 * index + 1] }));
    const tookMs = msOf(rest[2 * keys.length]) - msOf(replies?.[0]);
    return { debts: debts as number[], left, tookMs };
  };

  test("decides, stores and expires as the exact model says, from wherever the buckets stand", async () => {
    expect(heldScript).not.toBe(takeScript);
    const stands = fc.array(arbitraryStand, { minLength: 3, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(arbitraryBuckets, stands, stands, async (buckets, kept, told) => {
        const model = createBucketModel();
        const keptDebts = buckets.map((bucket, index) => debtOf(bucket, kept[index]));
        const untold = buckets.map((bucket, index) => atLeast0(debtOf(bucket, told[index]) ?? 0n));
        const fullAts = keptDebts.map((debt) => (debt === undefined ? debt : nowMicros + debt));
        buckets.forEach((bucket, index) => {
          const { capacity } = sizesOf(bucket);
          const [debt, more] = [atLeast0(keptDebts[index] ?? 0n), untold[index] ?? 0n];
          const larger = more > debt ? more : debt;
          model.setLevel(bucket, larger > capacity ? 0n : capacity - larger, nowMicros);
        });
        const expected = model.take(buckets, nowMicros);

        const { debts, left, tookMs } = await step(buckets, fullAts, untold);

        expect(takeTokens(buckets, debts)).toEqual(expected);
        buckets.forEach((bucket, index) => {
          const { text, ttlMs } = left[index] ?? {};
          if (!expected.isAllowed) {
            const debt = keptDebts[index];
            // What was kept stays as it is, except for debts that it did not know and for what no
            // clock of ours can have written.
            const larger = (untold[index] ?? 0n) > atLeast0(debt ?? 0n) ? untold[index] : debt;
            const { capacity } = sizesOf(bucket);
            const bounded = larger !== undefined && larger > capacity ? capacity : larger;
            const fullAt = bounded === undefined ? undefined : nowMicros + bounded;
            return expect(text ?? undefined).toBe(fullAt?.toString());
          }
          const debt = sizesOf(bucket).capacity - model.levelOf(bucket, nowMicros);
          expect(text).toBe(String(nowMicros + debt));
          // It must not be gone before it is full. A little later costs only memory. Redis' own
          // clock may go on between the write and the look.
          const fullInMs = expected.states[index]?.fullInMs ?? 0;
          expect(ttlMs).toBeGreaterThanOrEqual(fullInMs - tookMs);
          return expect(ttlMs).toBeLessThanOrEqual(fullInMs + 2);
        });
      }),
      { numRuns: 500, seed: 20_261_128 },
    );
  });

  test("answers many questions of one call as if they had come one after the other", async () => {
    const arbitraryQuestions = fc.array(fc.subarray([0, 1, 2], { minLength: 1 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(arbitraryBuckets, arbitraryQuestions, async (all, picks) => {
        const model = createBucketModel();
        const run = randomUUID();
        const keyOf = (bucket: Bucket) => `test:${run}:${all.indexOf(bucket)}`;
        const questions = picks
          .map((indexes) => indexes.flatMap((index) => all[index] ?? []))
          .filter((buckets) => buckets.length > 0);
        const asked = questions.flat();
        const expected = questions.map((buckets) => model.take(buckets, nowMicros));

        const parameters = [
          questions.length,
          ...questions.map((buckets) => buckets.length),
          ...parametersOf(asked, []),
          ...heldTime,
        ];
        const keys = asked.map(keyOf);
        // One step, as some of the keys are gone after two milliseconds.
        const work = redis.multi().eval(heldScript, keys.length, ...keys, ...parameters);
        for (const bucket of all) work.getdel(keyOf(bucket));
        const [debts, ...left] = (await work.exec())?.map(([, reply]) => reply) ?? [];

        const told = [...(debts as number[])];
        const decisions = questions.map((buckets) =>
          takeTokens(buckets, told.splice(0, buckets.length)),
        );
        expect(decisions).toEqual(expected);
        all.forEach((bucket, index) => {
          const isTaken = questions.some(
            (buckets, at) => expected[at]?.isAllowed === true && buckets.includes(bucket),
          );
          const debt = sizesOf(bucket).capacity - model.levelOf(bucket, nowMicros);
          expect(left[index]).toBe(isTaken ? String(nowMicros + debt) : null);
        });
      }),
      { numRuns: 300, seed: 20_261_128 },
    );
  });
});
