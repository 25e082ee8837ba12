import { describe, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { inheritedEnv } from "@payment-links/runtime/testing/inherited-env";

const index = new URL("./index.ts", import.meta.url).href;

/** Each calls what a process of a service begins with; nothing of what it names is reached. */
const starts = {
  runProcess: `
    import { z } from "zod";
    import { runProcess } from ${JSON.stringify(index)};
    const migration = { schema: "tiny", folders: [] };
    const create = () => { throw new Error("it was started"); };
    await runProcess({ name: "tiny", config: z.object({}), migration, create }, process.env);
  `,
  runPrepare: `
    import { runPrepare } from ${JSON.stringify(index)};
    await runPrepare("auth-keys", { schema: "tiny", folders: [] }, process.env);
  `,
};

const away = "127.0.0.1:9";
const usable = {
  DATABASE_URL: `postgres://tiny:test@${away}/tiny`,
  MIGRATION_DATABASE_URL: `postgres://tiny:test@${away}/tiny`,
  KAFKA_BROKERS: away,
  REDIS_URL: `redis://${away}`,
};

/** What it ends with that is started so. */
const startWith = (name: keyof typeof starts, more: Record<string, string>) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", starts[name]],
    {
      cwd: import.meta.dirname,
      env: { ...inheritedEnv(), ...usable, ...more },
      encoding: "utf8",
      // One that took it would wait for what is away.
      timeout: 120_000,
    },
  );
  return { end: [status, stdout], stderr };
};

const refusal = (variable: string) =>
  new RegExp(`^The configuration cannot be used:\n  ${variable}: .*\n$`);

test("a service does not start on a HOST for other machines without a BASE_URL (rule CALLER-39)", () => {
  const { end, stderr } = startWith("runProcess", { HOST: "0.0.0.0" });
  expect(end).toEqual([2, ""]);
  expect(stderr).toMatch(refusal("BASE_URL"));
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
  ])(
    "given %s=%s, ends with code 2, the name and not the value (rule OPS-4)",
    (variable, value) => {
      const { end, stderr } = startWith(name, { [variable]: value });
      expect(stderr).toMatch(refusal(variable));
      expect(stderr).not.toContain(value);
      expect(end).toEqual([2, ""]);
    },
  );

  test("given a way of signing in to Kafka without a password, names what is missing", () => {
    const sasl = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "tiny" };
    const { end, stderr } = startWith(name, sasl);
    expect(stderr).toMatch(refusal("KAFKA_SASL_PASSWORD"));
    expect(end).toEqual([2, ""]);
  });
});

test.each([
  ["REDIS_URL", "http://tiny-redis.example/x"],
  ["TRUSTED_PROXIES", "10.0.0.0/8,everybody"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
])("a service given %s=%s ends with code 2, the name and not the value", (variable, value) => {
  const { end, stderr } = startWith("runProcess", { [variable]: value });
  expect(stderr).toMatch(refusal(variable));
  expect(stderr).not.toContain(value);
  expect(end).toEqual([2, ""]);
});
