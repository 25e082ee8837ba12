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

describe.each(["runProcess", "runPrepare"] as const)("%s", (name) => {
  test.each([
    ["LOG_LEVEL", "verbose"],
    ["LOG_LEVEL", "INFO"],
    ["KAFKA_SSL", "perhaps"],
  ])("given %s=%s, ends with code 2, the name and not the value", (variable, value) => {
    const env = { ...inheritedEnv(), ...usable, [variable]: value };
    const script = ["--input-type=module", "-e", starts[name]];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", ...script],
      { cwd: import.meta.dirname, env, encoding: "utf8" },
    );
    expect(stderr).toMatch(new RegExp(`^The configuration cannot be used:\n  ${variable}: .*\n$`));
    expect(stderr).not.toContain(value);
    expect([status, stdout]).toEqual([2, ""]);
  });
});
