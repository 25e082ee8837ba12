import { expect, test } from "@jest/globals";
import { generateSecret, secretPrefixOf, serializeEndpoint } from "./endpoint.ts";

test("a secret has 256 random bits in hex, and its prefix shows four digits (rule HOOK-5)", () => {
  const secrets = [generateSecret(), generateSecret()];
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(secrets[0]).not.toBe(secrets[1]);
  expect(secretPrefixOf(`whsec_${"0123456789abcdef".repeat(4)}`)).toBe("whsec_0123");
});

test("an endpoint is serialized with its public fields only", () => {
  const endpoint = {
    id: "whe_1",
    url: "https://shop.com/hook",
    mode: "live" as const,
    name: "shop",
    enabled: false,
    secretPrefix: "whsec_0123",
    lastOutcome: "Failed" as const,
    consecutiveFailures: 3,
  };
  const row = { ...endpoint, dateCreated: new Date(0), sealed: "never returned" };
  expect(serializeEndpoint(row)).toEqual({ ...endpoint, dateCreated: "1970-01-01T00:00:00.000Z" });
});
