import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { childrenOf } from "./bench/process-cpu.ts";
import { projectRoot } from "./rig/child.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "payment-links-ended-"));
  // If root starts it, Postgres runs as another user, who must be able to enter.
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type Process = { pid: number; name: string };

const descendantsOf = (pid: number): Process[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child.pid)]);

/** One that has ended, and that nobody has asked for its exit code yet, has no command line any more. */
const isRunning = async ({ pid }: Process): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")) !== "";

test("a bench that a signal ends leaves no process and no file", async () => {
  const { DATABASE_URL: _, ...env } = process.env;
  const command = ["--silent", "run", "bench", "--", "create"];
  const bench = spawn("npm", command, {
    cwd: projectRoot,
    env: { ...env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [rounds, said] = ["", ""];
  bench.stdout.on("data", (chunk: Buffer) => (rounds += chunk.toString()));
  bench.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await waitUntil("it has told of a round", () => {
    if (bench.exitCode !== null) throw new Error(said);
    return rounds.includes("\n");
  });
  const all = descendantsOf(bench.pid ?? -1);
  expect(all.map(({ name }) => name)).toContain("postgres");
  const gone = once(bench, "exit");
  bench.kill("SIGTERM");
  await gone;
  const runs = async () => (await Promise.all(all.map(isRunning))).includes(true);
  await waitUntil("nothing of it runs", async () => !(await runs()));
  expect(await readdir(directory)).toEqual([]);
});
