import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { listChildren } from "./bench/process-cpu.ts";
import { projectRoot } from "./rig/child.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "payment-links-ended-"));
  // If root starts Postgres, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type DescendantProcess = { pid: number; name: string };

const listDescendants = (pid: number): DescendantProcess[] =>
  listChildren(pid).flatMap((child) => [child, ...listDescendants(child.pid)]);

/**
 * Returns whether a process is running. A zombie process has no command line, so it does not count
 * as running.
 */
const isRunning = async ({ pid }: DescendantProcess): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")) !== "";

test("a bench terminated by a signal leaves no process and no file", async () => {
  const { DATABASE_URL: _, ...env } = process.env;
  const command = ["--silent", "run", "bench", "--", "create"];
  const bench = spawn("npm", command, {
    cwd: projectRoot,
    env: { ...env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [output, errorOutput] = ["", ""];
  bench.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  bench.stderr.on("data", (chunk: Buffer) => (errorOutput += chunk.toString()));
  await waitUntil("the bench has reported a round", () => {
    if (bench.exitCode !== null) throw new Error(errorOutput);
    return output.includes("\n");
  });
  const descendants = listDescendants(bench.pid ?? -1);
  expect(descendants.map(({ name }) => name)).toContain("postgres");
  const exited = once(bench, "exit");
  bench.kill("SIGTERM");
  await exited;
  const isAnyRunning = async () => (await Promise.all(descendants.map(isRunning))).includes(true);
  await waitUntil("none of its processes is running", async () => !(await isAnyRunning()));
  expect(await readdir(directory)).toEqual([]);
});
