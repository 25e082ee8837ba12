import { expect, test } from "@jest/globals";
import type { ApiKeyData, WebhookEndpointData } from "../../api/operations.ts";
import { listAttention } from "./attention.ts";

const now = Date.parse("2026-11-21T10:00:00Z");
const unapplied = { count: 0, hasMore: false, payments: [] };
const createEndpoint = (name: string, enabled: boolean, consecutiveFailures: number) =>
  ({ id: `whe_${name}`, name, enabled, consecutiveFailures }) as WebhookEndpointData;
const createKey = (name: string, active: boolean, expiresAt: string | null) =>
  ({ id: `key_${name}`, name, active, expiresAt }) as ApiKeyData;

test("nothing needs attention while everything works", () => {
  const items = listAttention({
    unapplied,
    deposits: { data: [], nextOffset: null },
    endpoints: [createEndpoint("works", true, 0), createEndpoint("disabled", false, 7)],
    keys: [
      createKey("lasting", true, null),
      createKey("inactive", false, "2026-11-22T10:00:00Z"),
      createKey("expired", true, "2026-11-21T10:00:00Z"),
      createKey("later", true, "2026-12-05T10:00:00.001Z"),
    ],
    now,
  });
  expect(items).toEqual([]);
});

test("money comes first, then failing endpoints, keys that expire within two weeks, and a missing passkey", () => {
  const items = listAttention({
    unapplied: { ...unapplied, count: 2 },
    deposits: { data: [{}, {}] as never, nextOffset: 2 },
    endpoints: [createEndpoint("till", true, 3)],
    keys: [createKey("shop", true, "2026-12-05T10:00:00Z")],
    isPasskeyMissing: true,
    now,
  });
  expect(items).toEqual([
    { kind: "unapplied", unapplied: { ...unapplied, count: 2 } },
    { kind: "deposits", count: 2, hasMore: true },
    { kind: "endpoint", id: "whe_till", name: "till", failureCount: 3 },
    { kind: "key", id: "key_shop", name: "shop", expiresAt: "2026-12-05T10:00:00Z" },
    { kind: "passkey" },
  ]);
});

test("lists that are not loaded need no attention", () => {
  expect(listAttention({ now })).toEqual([]);
});
