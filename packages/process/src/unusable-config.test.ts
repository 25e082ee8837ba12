import { describe, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";

const indexUrl = new URL("./index.ts", import.meta.url).href;

/**
 * Each script starts like a service's process. The scripts do not reach any of the servers in their
 * variables.
 */
const startScripts = {
  runProcess: `
    import { z } from "zod";
    import { runProcess } from ${JSON.stringify(indexUrl)};
    const migration = { schema: "tiny", folders: [] };
    const create = () => { throw new Error("it was started"); };
    await runProcess({ name: "tiny", config: z.object({}), migration, create }, process.env);
  `,
  runPrepare: `
    import { runPrepare } from ${JSON.stringify(indexUrl)};
    await runPrepare("auth-keys", { schema: "tiny", folders: [] }, process.env);
  `,
};

const unreachableAddress = "127.0.0.1:9";
const validConfig = {
  DATABASE_URL: `postgres://tiny:test@${unreachableAddress}/tiny`,
  MIGRATION_DATABASE_URL: `postgres://tiny:test@${unreachableAddress}/tiny`,
  KAFKA_BROKERS: unreachableAddress,
  REDIS_URL: `redis://${unreachableAddress}`,
};

/** Runs a start script with these variables, and returns its exit status and output. */
const runStartScript = (name: keyof typeof startScripts, overrides: Record<string, string>) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", startScripts[name]],
    {
      cwd: import.meta.dirname,
      env: { ...getInheritedEnv(), ...validConfig, ...overrides },
      encoding: "utf8",
      // If a process accepted the configuration, it would wait for the unavailable servers.
      timeout: 120_000,
    },
  );
  return { exit: [status, stdout], stderr };
};

const errorPattern = (variable: string) =>
  new RegExp(`^Invalid configuration:\n  ${variable}: .*\n$`);

test("a service rejects a HOST for other machines without a BASE_URL (rule CALLER-39)", () => {
  const { exit, stderr } = runStartScript("runProcess", { HOST: "0.0.0.0" });
  expect(exit).toEqual([2, ""]);
  expect(stderr).toMatch(errorPattern("BASE_URL"));
});

describe.each(["runProcess", "runPrepare"] as const)("%s", (name) => {
  test.each([
    ["LOG_LEVEL", "verbose"],
    ["LOG_LEVEL", "INFO"],
    ["KAFKA_SSL", "perhaps"],
    ["KAFKA_BROKERS", " , "],
    ["KAFKA_BROKERS", "kafka-without-port"],
    ["KAFKA_BROKERS", "kafka:ninety"],
    ["DATABASE_URL", "http://tiny-db.example/x"],
    ["DATABASE_URL", "tiny-db.example:5432/x"],
    ["DATABASE_URL", "postgres://tiny:hunter%2@127.0.0.1:9/tiny"],
  ])("rejects %s=%s with code 2 and the name but not the value (rule OPS-4)", (variable, value) => {
    const { exit, stderr } = runStartScript(name, { [variable]: value });
    expect(stderr).toMatch(errorPattern(variable));
    expect(stderr).not.toContain(value);
    expect(exit).toEqual([2, ""]);
  });

  test("names the missing password of a Kafka SASL mechanism", () => {
    const sasl = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "tiny" };
    const { exit, stderr } = runStartScript(name, sasl);
    expect(stderr).toMatch(errorPattern("KAFKA_SASL_PASSWORD"));
    expect(exit).toEqual([2, ""]);
  });
});

test.each([
  ["REDIS_URL", "http://tiny-redis.example/x"],
  ["TRUSTED_PROXIES", "10.0.0.0/8,everybody"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
])("a service rejects %s=%s with code 2 and the name but not the value", (variable, value) => {
  const { exit, stderr } = runStartScript("runProcess", { [variable]: value });
  expect(stderr).toMatch(errorPattern(variable));
  expect(stderr).not.toContain(value);
  expect(exit).toEqual([2, ""]);
});
