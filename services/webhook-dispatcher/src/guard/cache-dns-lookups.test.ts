import { describe, expect, test } from "@jest/globals";
import { createFakeClock } from "@payment-links/runtime";
import { cacheDnsLookups } from "./cache-dns-lookups.ts";

/** Creates a fake DNS whose queries the test answers and counts. */
const createFakeDns = () => {
  const queries: PromiseWithResolvers<readonly string[]>[] = [];
  const clock = createFakeClock(new Date("2026-11-21T10:00:00.000Z"));
  const resolve = cacheDnsLookups(
    () => {
      const query = Promise.withResolvers<readonly string[]>();
      queries.push(query);
      return query.promise;
    },
    { clock },
  );
  return { queries, clock, resolve };
};

describe("cacheDnsLookups", () => {
  test("shares one query between concurrent lookups, and caches it for ten seconds (rule HOOK-4)", async () => {
    const { queries, clock, resolve } = createFakeDns();
    const bothLookups = Promise.all([resolve("shop.com"), resolve("shop.com")]);
    queries[0]?.resolve(["93.184.216.34"]);
    expect(await bothLookups).toEqual([["93.184.216.34"], ["93.184.216.34"]]);
    clock.advance(10_000 - 1);
    await resolve("shop.com");
    expect(queries).toHaveLength(1);
    clock.advance(1);
    void resolve("shop.com");
    expect(queries).toHaveLength(2);
  });

  test("still expires entries on time when the system clock is set back", async () => {
    const { queries, clock, resolve } = createFakeDns();
    void resolve("shop.com");
    clock.setBack(3_600_000);
    clock.advance(10_000);
    void resolve("shop.com");
    expect(queries).toHaveLength(2);
  });

  test("caches each host separately", () => {
    const { queries, resolve } = createFakeDns();
    void resolve("shop.com");
    void resolve("other.com");
    expect(queries).toHaveLength(2);
  });

  test("removes a failed query, but not a newer one for the same host", async () => {
    const { queries, clock, resolve } = createFakeDns();
    const first = resolve("shop.com");
    clock.advance(10_000);
    const second = resolve("shop.com");
    queries[0]?.reject(new Error("SERVFAIL"));
    await expect(first).rejects.toThrow("SERVFAIL");
    expect(resolve("shop.com")).toBe(second);
    queries[1]?.reject(new Error("SERVFAIL"));
    await expect(second).rejects.toThrow("SERVFAIL");
    void resolve("shop.com");
    expect(queries).toHaveLength(3);
  });
});
