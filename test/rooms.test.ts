import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";

const lint = (file: string) =>
  spawnSync(join(projectRoot, "node_modules/.bin/oxlint"), ["--quiet", file], {
    cwd: projectRoot,
    encoding: "utf8",
  });

const breaches: [string, string, string][] = [
  ["domain sees the store", "services/links-api/src/domain", `import "../store/links.ts";`],
  ["domain speaks SQL", "services/links-api/src/domain", `import "slonik";`],
  ["store sees a route", "services/auth-keys/src/store", `import "../http/get-account.ts";`],
  ["a route speaks SQL", "services/links-api/src/http", `import "slonik";`],
  ["an event's handler sees a route", "services/links-api/src/events", `import "../http/x.ts";`],
  ["a service speaks to Kafka", "services/auth-keys/src", `import "kafkajs";`],
  ["a service speaks to Redis", "services/links-api/src", `import "ioredis";`],
  ["a package is entered by the side", "packages/http/src", `import "@payment-links/bus/relay";`],
];

describe("the rooms of the house", () => {
  test.each(breaches)("given that %s, the check fails", (_breach, room, source) => {
    const file = join(projectRoot, room, `planted-breach-${process.pid}.ts`);
    writeFileSync(file, `${source}\n`);
    try {
      const { status, stdout } = lint(file);
      expect(stdout).toContain("no-restricted-imports");
      expect(status).not.toBe(0);
    } finally {
      rmSync(file);
    }
  });
});
