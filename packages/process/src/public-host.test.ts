import { describe, expect, test } from "@jest/globals";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { processConfig } from "./config.ts";

const requiredConfig = {
  DATABASE_URL: "postgres://tiny:test@127.0.0.1:9/tiny",
  KAFKA_BROKERS: "127.0.0.1:9",
  REDIS_URL: "redis://127.0.0.1:9",
};

/** Returns the configuration error of a process, or undefined if the configuration is valid. */
const getConfigError = (environment: Record<string, string>): string | undefined => {
  try {
    parseConfig(processConfig, { ...requiredConfig, ...environment });
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

describe("a HOST that other machines can reach (rule CALLER-39)", () => {
  test.each([
    { HOST: "0.0.0.0" },
    { HOST: "::" },
    { HOST: "192.168.1.5", BASE_URL: "http://127.0.0.1:8080" },
    { HOST: "0.0.0.0", BASE_URL: "http://localhost:8080" },
    { HOST: "::", BASE_URL: "http://[::1]:8080" },
    { HOST: "shop.example.com", BASE_URL: "http://127.0.0.1:8080" },
  ])("is rejected together with a BASE_URL of this machine: %j", (environment) => {
    const message = getConfigError(environment);
    expect(message).toMatch(/^Invalid configuration:\n {2}BASE_URL: /);
    expect(message).toContain("set PUBLISHED_ON_LOOPBACK=1");
    expect(message).not.toContain(environment.HOST);
  });

  test.each([
    [
      "a proxy with the public address is in front",
      { HOST: "0.0.0.0", BASE_URL: "https://pay.example.com" },
    ],
    [
      "a proxy on this machine terminates TLS",
      { HOST: "0.0.0.0", BASE_URL: "https://localhost:8443" },
    ],
    [
      "a container's port is published on loopback",
      { HOST: "0.0.0.0", PUBLISHED_ON_LOOPBACK: "1" },
    ],
    ["insecure cookies are allowed", { HOST: "0.0.0.0", ALLOW_INSECURE_COOKIE: "1" }],
  ])("is accepted when %s", (_, environment) => {
    expect(getConfigError(environment)).toBeUndefined();
  });

  test.each([{}, { HOST: "127.0.0.2" }, { HOST: "localhost" }, { HOST: "::1" }])(
    "does not include loopback addresses: %j",
    (environment) => {
      expect(getConfigError(environment)).toBeUndefined();
    },
  );
});
