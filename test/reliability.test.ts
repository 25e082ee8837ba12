import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";

const violations: [string, string, string][] = [
  ["sleeps", "no-fixed-wait", `import { setTimeout as sleep } from "node:timers/promises";`],
  ["waits for a timer", "no-fixed-wait", `await new Promise((done) => setTimeout(done, 300));`],
  ["waits in a browser", "no-fixed-wait", `await page.waitForTimeout(300);`],
  ["waits for the system clock", "no-fixed-wait", `await systemClock.sleepUntil(later, signal);`],
  ["waits in the database", "no-fixed-wait", "await db.query(`SELECT pg_sleep(0.2)`);"],
  [
    "waits until a point in time",
    "no-fixed-wait",
    `await waitUntil("it", () => Date.now() > end);`,
  ],
  ["loops until a point in time", "no-fixed-wait", `while (performance.now() < end) await look();`],
  [
    "sets an upper bound on a time difference",
    "no-speed-comparison",
    `const at = performance.now(); expect(performance.now() - at).toBeLessThan(500);`,
  ],
  [
    "sets an upper bound on a named duration",
    "no-speed-comparison",
    `const at = Date.now(); const tookMs = Date.now() - at; expect(tookMs).not.toBe(500);`,
  ],
  [
    "sets an upper bound on a duration in an object",
    "no-speed-comparison",
    `const at = Date.now(); const answer = { tookMs: Date.now() - at }; expect(answer.tookMs).toBeLessThan(9);`,
  ],
  ["waits with a short timeout", "no-short-limit", `await waitUntil("it", isThere, 5_000);`],
  [
    "waits with a short timeout from a constant",
    "no-short-limit",
    `const limitMs = 5 * 1_000; await waitUntil("it", isThere, limitMs);`,
  ],
  ["sets a short timeout for itself", "no-short-limit", `test("it", work, 240_000);`],
  ["sets a short timeout for each row", "no-short-limit", `test.each([1])("it", work, 30_000);`],
  ["sets a short timeout for a hook", "no-short-limit", `beforeAll(work, 30_000);`],
  [
    "sets a short timeout for a call",
    "no-short-limit",
    `await fetch(url, { signal: AbortSignal.timeout(9_000) });`,
  ],
  [
    "sets a short timeout for a program",
    "no-short-limit",
    `spawn("helm", [], { timeout: 10_000 });`,
  ],
  ["sets a short timeout for a page", "no-short-limit", `page.setDefaultTimeout(10_000);`],
  [
    "sets a short timeout by a timer",
    "no-short-limit",
    `const timer = setTimeout(kill, 10_000); await ended; clearTimeout(timer);`,
  ],
  [
    "sets a short timeout in the product",
    "no-short-limit",
    `connectPool({ statementTimeoutMs: 200 });`,
  ],
  ["listens on a fixed port", "no-shared-resource", `server.listen(9_000, "127.0.0.1");`],
  [
    "listens on a fixed port given as an option",
    "no-shared-resource",
    `server.listen({ port: 9_000 });`,
  ],
  ["chooses a Redis database", "no-shared-resource", `startRealSystem({ redisDatabase: 3 });`],
  [
    "names a Redis database in a URL",
    "no-shared-resource",
    `new Redis("redis://127.0.0.1:6379/3");`,
  ],
  ["uses the shared Redis database", "no-shared-resource", `new Redis(getTestRedisUrl());`],
  [
    "writes a file at a fixed path",
    "no-shared-resource",
    `await writeFile(join(tmpdir(), "it"), "");`,
  ],
  [
    "creates a role with a fixed name",
    "no-shared-resource",
    "await db.query(`CREATE ROLE tester LOGIN`);",
  ],
];

const allowed: [string, string][] = [
  ["waits for a condition", `await waitUntil("it", isThere);`],
  ["delays a response as the test's input", `await injectDelay("slow peer", 90);`],
  [
    "sets an upper bound that only a hang exceeds",
    `expect(Date.now() - at).toBeLessThan(hangLimitMs(500));`,
  ],
  ["sets a lower bound on a duration", `expect(Date.now() - at).toBeGreaterThan(950);`],
  ["provokes a timeout of the product", `open({ timeoutMs: provokedTimeoutMs(100) });`],
  ["compares a setting", `expect(readConfig()).toEqual({ timeoutMs: 10_000 });`],
  ["creates a temporary folder", `await mkdtemp(join(tmpdir(), "it-"));`],
  ["creates a role with a random name", "await db.query(`CREATE ROLE ${name} LOGIN`);"],
  ["listens on a port that the system chooses", `server.listen(0, "127.0.0.1");`],
  [
    "compares a value computed from an instant",
    `const at = new Date(Date.now() - ageMs); expect(at).toEqual(told);`,
  ],
];

const sources = [
  ...violations.map(([, , source]) => source),
  ...allowed.map(([, source]) => source),
];
const getPlantedPath = (source: string) =>
  `packages/runtime/src/testing/planted-${process.pid}-${sources.indexOf(source)}.ts`;

/** Writes each source to a file, lints all files, and removes them. */
const lintPlantedFiles = (): string => {
  try {
    for (const source of sources)
      writeFileSync(join(projectRoot, getPlantedPath(source)), `${source}\n`);
    const args = [join(projectRoot, "node_modules/oxlint/bin/oxlint"), "--quiet", "-f", "unix"];
    const { stdout } = spawnSync(process.execPath, [...args, ...sources.map(getPlantedPath)], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    return stdout;
  } finally {
    for (const source of sources)
      rmSync(join(projectRoot, getPlantedPath(source)), { force: true });
  }
};

describe("the reliability lint rules", () => {
  let lintOutput = "";
  beforeAll(() => {
    lintOutput = lintPlantedFiles();
  });
  const listRules = (source: string): string[] => {
    const lines = lintOutput
      .split("\n")
      .filter((line) => line.startsWith(`${getPlantedPath(source)}:`));
    return lines.flatMap((line) => /reliability\(([\w-]+)\)/.exec(line)?.[1] ?? []);
  };

  test.each(violations)("reject a test that %s (%s)", (_name, rule, source) => {
    expect(listRules(source)).toEqual([rule]);
  });

  test.each(allowed)("accept a test that %s", (_name, source) => {
    expect(listRules(source)).toEqual([]);
  });
});
