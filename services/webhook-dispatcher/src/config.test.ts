import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { webhookDispatcherConfig } from "./config.ts";

const key = Buffer.alloc(32, 7).toString("base64");
const WEBHOOK_SECRET_KEYS = `first=${key}`;

const parseTestConfig = (environment: Record<string, string>) =>
  parseConfig(webhookDispatcherConfig, { WEBHOOK_SECRET_KEYS, ...environment });

const configErrorOf = (environment: Record<string, string>): string => {
  try {
    parseTestConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

const manyOverrides = (count: number): string =>
  Array.from({ length: count }, (_, index) => `r${index}.test=http://127.0.0.1`).join();

describe("webhookDispatcherConfig", () => {
  test("requires only the secret keys, and has the defaults of rules HOOK-13 and HOOK-14", () => {
    expect(parseTestConfig({})).toMatchObject({
      headerPrefix: "Service",
      schedule: [0, 30_000, 300_000, 1_800_000, 7_200_000, 43_200_000],
      timeoutMs: 10_000,
      overrides: new Map(),
      slotsMax: 256,
      slotsPerEndpointMax: 20,
      slotsPerAccountMax: 100,
      slotsPerOriginMax: 128,
      logDays: 30,
    });
  });

  test("reads the keys from the variable or from the file in `WEBHOOK_SECRET_KEYS_FILE`", () => {
    expect(parseTestConfig({}).secretKeys.sealingKeyName).toBe("first");
    const file = join(mkdtempSync(join(tmpdir(), "webhook-dispatcher-")), "keys");
    writeFileSync(file, `filed=${key}\n`);
    const fileEnvironment = { WEBHOOK_SECRET_KEYS: "", WEBHOOK_SECRET_KEYS_FILE: file };
    expect(parseTestConfig(fileEnvironment).secretKeys.sealingKeyName).toBe("filed");
    const missingFileEnvironment = {
      WEBHOOK_SECRET_KEYS: "",
      WEBHOOK_SECRET_KEYS_FILE: "/nowhere/keys",
    };
    expect(configErrorOf(missingFileEnvironment)).toContain("WEBHOOK_SECRET_KEYS_FILE");
  });

  test.each([
    ["missing", ""],
    ["malformed", `first=${key}x`],
    ["duplicate", `first=${key},first=${key}`],
  ])(
    "reports %s keys by the variable's name without showing their value (rule OPS-6)",
    (_fault, keys) => {
      const configError = configErrorOf({ WEBHOOK_SECRET_KEYS: keys });
      expect(configError).toContain("WEBHOOK_SECRET_KEYS: ");
      expect(configError).not.toContain(key.slice(0, 8));
    },
  );

  test("parses each override as a host and an origin (rule OPS-7)", () => {
    const { overrides } = parseTestConfig({
      WEBHOOK_HOST_OVERRIDES:
        "receiver.test=http://127.0.0.1:9000, other.test = https://localhost:9443",
    });
    expect([...overrides].map(([host, url]) => [host, url.origin])).toEqual([
      ["receiver.test", "http://127.0.0.1:9000"],
      ["other.test", "https://localhost:9443"],
    ]);
    expect(parseTestConfig({ WEBHOOK_HOST_OVERRIDES: manyOverrides(100) }).overrides.size).toBe(
      100,
    );
  });

  test.each([
    ["no origin", "receiver.test"],
    ["a path", "receiver.test=http://127.0.0.1:9000/path"],
    ["credentials", "receiver.test=http://a:b@127.0.0.1:9000"],
    ["another scheme", "receiver.test=ftp://127.0.0.1"],
    ["a host with a port", "receiver.test:80=http://127.0.0.1"],
    ["upper case", "Receiver.test=http://127.0.0.1"],
    ["101 entries", manyOverrides(101)],
    ["a duplicate host", "a.test=http://127.0.0.1,a.test=http://127.0.0.2"],
  ])("rejects an override with %s", (_name, WEBHOOK_HOST_OVERRIDES) => {
    expect(configErrorOf({ WEBHOOK_HOST_OVERRIDES })).toContain("WEBHOOK_HOST_OVERRIDES");
  });

  test("rejects all overrides in production (rule OPS-7)", () => {
    const WEBHOOK_HOST_OVERRIDES = "receiver.test=http://127.0.0.1:9000";
    expect(configErrorOf({ WEBHOOK_HOST_OVERRIDES, NODE_ENV: "production" })).toContain(
      "NODE_ENV=production",
    );
    expect(parseTestConfig({ NODE_ENV: "production" }).overrides.size).toBe(0);
  });

  test.each([
    ["WEBHOOK_RETRY_SCHEDULE_SECONDS", "0,1,2,3,4,5,6"],
    ["WEBHOOK_RETRY_SCHEDULE_SECONDS", "0,soon"],
    ["WEBHOOK_RETRY_SCHEDULE_SECONDS", "0,-1"],
    ["WEBHOOK_TIMEOUT_SECONDS", "0"],
    ["WEBHOOK_TIMEOUT_SECONDS", "61"],
    ["WEBHOOK_HEADER_PREFIX", "a b"],
    ["WEBHOOK_HEADER_PREFIX", "a\r\nb: c"],
    ["WEBHOOK_CONCURRENCY", "0"],
  ])("rejects %s=%j", (name, value) => {
    expect(configErrorOf({ [name]: value })).toContain(name);
  });
});
