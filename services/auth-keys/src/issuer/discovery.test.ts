import { expect, test } from "@jest/globals";
import type { ServerMetadata } from "openid-client";
import { createHeldClock, openLog } from "@payment-links/runtime";
import { createDiscovery } from "./discovery.ts";

const hourMs = 3_600_000;

/** A discovery whose provider is away until it is brought back. */
const open = () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00Z"));
  const provider = { isAway: false, asked: 0 };
  const { get } = createDiscovery({
    clock,
    log: openLog({ service: "test", level: "silent" }),
    discover: () => {
      provider.asked += 1;
      const metadata: ServerMetadata = { issuer: "https://issuer.example" };
      return provider.isAway
        ? Promise.reject(new Error("no network yet"))
        : Promise.resolve(metadata);
    },
  });
  return { clock, get, provider };
};

test("a clock that is set back makes the pause after a failure no longer", async () => {
  const { clock, get, provider } = open();
  provider.isAway = true;
  await expect(get()).rejects.toMatchObject({ entries: [{ code: "OIDC_ISSUER_UNAVAILABLE" }] });
  provider.isAway = false;
  clock.setBack(5 * hourMs);
  await expect(get()).rejects.toMatchObject({ entries: [{ code: "OIDC_ISSUER_UNAVAILABLE" }] });
  clock.advance(60_000);
  await expect(get()).resolves.toMatchObject({ issuer: "https://issuer.example" });
});

test("a clock that is set back keeps what is known no longer than an hour", async () => {
  const { clock, get, provider } = open();
  await get();
  clock.setBack(5 * hourMs);
  clock.advance(hourMs - 1);
  await get();
  expect(provider.asked).toBe(1);
  clock.advance(1);
  await get();
  expect(provider.asked).toBe(2);
});
