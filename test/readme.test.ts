import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { readBlocks } from "./rig/read-blocks.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { bringBtcd } from "@payment-links/settlement-listener/testing/find-btcd";

/** Where its node cannot be had, Bitcoin's block and what it prints are left out. */
const hasBitcoin = typeof (await bringBtcd()) === "string";

const linesOf = (text: string): string[] => text.trim().split("\n");

describe("README.md", () => {
  let readme = "";
  let folder = "";

  beforeAll(async () => {
    readme = await readFile(join(projectRoot, "README.md"), "utf8");
    folder = await mkdtemp(join(tmpdir(), "payment-links-readme-"));
    // If root starts it, Postgres runs as another user, who must be able to enter.
    await chmod(folder, 0o755);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("the first payment works word for word", async () => {
    const blocks = readBlocks(readme, "A first payment").filter(
      ({ text }) => hasBitcoin || !/local.bitcoin/i.test(text),
    );
    const [start, ...rest] = blocks.filter(({ language }) => language === "sh");
    const printed = blocks.filter(({ language }) => language === "");
    if (start === undefined || printed.length === 0) throw new Error("the section is not there");
    // Two terminals in a clone: the same sources, and a `.data` and files of this test's own.
    const clone = spawnSync("bash", ["-c", cloneScript], {
      env: { ...process.env, FROM: projectRoot, TO: folder },
      encoding: "utf8",
    });
    expect(clone.stderr).toBe("");
    const env = { ...process.env, HOME: process.env["HOME"] ?? folder };
    const server = spawn("bash", ["-c", start.text], { cwd: folder, env, detached: true });
    let said = "";
    server.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    server.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    try {
      await waitUntil(
        "the start",
        () => said.includes("Payment Links is ready") || server.exitCode !== null,
      );
      const script = ["set -eu", ...rest.map(({ text }) => text)].join("\n");
      const second = spawnSync("bash", ["-c", script], {
        cwd: folder,
        env,
        encoding: "utf8",
        timeout: 120_000,
      });
      expect({ status: second.status, stderr: second.stderr }).toEqual({ status: 0, stderr: "" });
      // A page's address and a transaction are new each time; webhooks may come in either order.
      const lines = linesOf(second.stdout).filter((line) => !/^(http|\{)/.test(line));
      expect(lines.sort()).toEqual(printed.flatMap(({ text }) => linesOf(text)).sort());
      // One on each local chain.
      const paid = second.stdout.matchAll(
        /^\{"transactionHash":"\w{64,88}","amount":"[\d.]+",.*\}$/gm,
      );
      expect([...paid]).toHaveLength(hasBitcoin ? 4 : 3);
      // Nothing that git, and with it the checks of `npm test`, would take for a part of the project.
      const left = spawnSync("git", ["ls-files", "--others", "--exclude-standard"], {
        cwd: folder,
        encoding: "utf8",
      });
      expect({ stdout: left.stdout, stderr: left.stderr }).toEqual({ stdout: "", stderr: "" });
      for (const command of readme.matchAll(/`(npm run --silent admin -- republish [a-z-]+)`/g)) {
        const told = spawnSync("bash", ["-c", command[1] ?? ""], {
          cwd: folder,
          env,
          encoding: "utf8",
        });
        expect({ status: told.status, stderr: told.stderr }).toEqual({ status: 0, stderr: "" });
      }
    } catch (error) {
      throw new Error(`the start said:\n${said.slice(-4000)}`, { cause: error });
    } finally {
      if (server.exitCode === null && server.pid !== undefined) {
        const ended = once(server, "exit");
        process.kill(-server.pid, "SIGINT");
        await ended;
      }
    }
  });
});

/** Links what is installed and copies what runs, so that nothing in the clone in use is touched. */
const cloneScript = `
  set -eu
  cd "$FROM"
  tar -c --exclude=node_modules --exclude=.data --exclude=.git . | tar -x -C "$TO"
  ln -s "$FROM/node_modules" "$TO/node_modules"
  cd "$TO"
  git init --quiet
  git add .
`;
