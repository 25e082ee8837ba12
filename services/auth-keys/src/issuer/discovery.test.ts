import { expect, test } from "@jest/globals";
import type { ServerMetadata } from "openid-client";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { createDiscovery } from "./discovery.ts";

const hourMs = 3_600_000;

/** Creates a discovery whose provider can be made unavailable. */
const createFixture = () => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const provider = { isUnavailable: false, requestCount: 0 };
  const { get } = createDiscovery({
    clock,
    log: createLog({ service: "test", level: "silent" }),
    discover: () => {
      provider.requestCount += 1;
      const metadata: ServerMetadata = { issuer: "https://issuer.example" };
      return provider.isUnavailable
        ? Promise.reject(new Error("no network yet"))
        : Promise.resolve(metadata);
    },
  });
  return { clock, get, provider };
};

test("setting the clock back does not prolong the pause after a failure", async () => {
  const { clock, get, provider } = createFixture();
  provider.isUnavailable = true;
  await expect(get()).rejects.toMatchObject({ entries: [{ code: "OIDC_ISSUER_UNAVAILABLE" }] });
  provider.isUnavailable = false;
  clock.setBack(5 * hourMs);
  await expect(get()).rejects.toMatchObject({ entries: [{ code: "OIDC_ISSUER_UNAVAILABLE" }] });
  clock.advance(60_000);
  await expect(get()).resolves.toMatchObject({ issuer: "https://issuer.example" });
});

test("setting the clock back does not cache the metadata for more than an hour", async () => {
  const { clock, get, provider } = createFixture();
  await get();
  clock.setBack(5 * hourMs);
  clock.advance(hourMs - 1);
  await get();
  expect(provider.requestCount).toBe(1);
  clock.advance(1);
  await get();
  expect(provider.requestCount).toBe(2);
});
