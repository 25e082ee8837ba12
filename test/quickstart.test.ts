import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { readBlocks } from "./rig/read-blocks.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findOrBuildBtcd } from "@payment-links/local-chains/bitcoin/find-btcd";

/** If btcd is not available, the code block for Bitcoin and its output are omitted. */
const hasBitcoin = typeof (await findOrBuildBtcd()) === "string";

const splitLines = (text: string): string[] => text.trim().split("\n");

describe("README.md and deploy/LOCAL-CHAINS.md", () => {
  let readme = "";
  let localChainsPage = "";
  let operationsPage = "";
  let directory = "";

  beforeAll(async () => {
    readme = await readFile(join(projectRoot, "README.md"), "utf8");
    localChainsPage = await readFile(join(projectRoot, "deploy/LOCAL-CHAINS.md"), "utf8");
    operationsPage = await readFile(join(projectRoot, "deploy/OPERATIONS.md"), "utf8");
    directory = await mkdtemp(join(tmpdir(), "payment-links-readme-"));
    // If root starts Postgres, Postgres runs as another user. This user needs access to the
    // directory.
    await chmod(directory, 0o755);
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("the first payment, and the payments that continue it, work word for word", async () => {
    const firstPaymentBlocks = readBlocks(readme, "A first payment");
    const blocks = [
      ...firstPaymentBlocks.slice(0, -1),
      ...readBlocks(localChainsPage, "A payment from a provider"),
      ...readBlocks(localChainsPage, "Solana, Tron and Bitcoin"),
      // Stops the receiver.
      ...firstPaymentBlocks.slice(-1),
    ].filter(({ text }) => hasBitcoin || !/local.bitcoin/i.test(text));
    const [startBlock, ...laterBlocks] = blocks.filter(({ language }) => language === "sh");
    const outputBlocks = blocks.filter(({ language }) => language === "");
    if (startBlock === undefined || outputBlocks.length === 0)
      throw new Error("a section is missing");
    // Simulates two terminals in a clone. The clone has the same sources, and its own `.data`
    // folder and files.
    const cloneResult = spawnSync("bash", ["-c", cloneScript], {
      env: { ...process.env, FROM: projectRoot, TO: directory },
      encoding: "utf8",
    });
    expect(cloneResult.stderr).toBe("");
    const env = { ...process.env, HOME: process.env["HOME"] ?? directory };
    const server = spawn("bash", ["-c", startBlock.text], { cwd: directory, env, detached: true });
    let serverOutput = "";
    server.stdout.on("data", (chunk: Buffer) => (serverOutput += chunk.toString()));
    server.stderr.on("data", (chunk: Buffer) => (serverOutput += chunk.toString()));
    try {
      await waitUntil(
        "the all-in-one is ready or has exited",
        () => serverOutput.includes("Payment Links is ready") || server.exitCode !== null,
      );
      const script = ["set -eu", ...laterBlocks.map(({ text }) => text)].join("\n");
      const scriptResult = spawnSync("bash", ["-c", script], {
        cwd: directory,
        env,
        encoding: "utf8",
        timeout: 120_000,
      });
      expect({ status: scriptResult.status, stderr: scriptResult.stderr }).toEqual({
        status: 0,
        stderr: "",
      });
      // Page URLs and transaction IDs are different in each run. Webhooks can arrive in any order.
      const outputLines = splitLines(scriptResult.stdout).filter(
        (line) => !/^(http|\{)/.test(line),
      );
      expect(outputLines.sort()).toEqual(
        outputBlocks.flatMap(({ text }) => splitLines(text)).sort(),
      );
      // One payment on each local chain.
      const paymentLines = scriptResult.stdout.matchAll(
        /^\{"transactionHash":"\w{64,88}","amount":"[\d.]+",.*\}$/gm,
      );
      expect([...paymentLines]).toHaveLength(hasBitcoin ? 4 : 3);
      // The commands must not create files that git, and therefore the checks of `npm test`, would
      // treat as part of the project.
      const untrackedResult = spawnSync("git", ["ls-files", "--others", "--exclude-standard"], {
        cwd: directory,
        encoding: "utf8",
      });
      expect({ stdout: untrackedResult.stdout, stderr: untrackedResult.stderr }).toEqual({
        stdout: "",
        stderr: "",
      });
      for (const command of operationsPage.matchAll(
        /`(npm run --silent admin -- republish [a-z-]+)`/g,
      )) {
        const commandResult = spawnSync("bash", ["-c", command[1] ?? ""], {
          cwd: directory,
          env,
          encoding: "utf8",
        });
        expect({ status: commandResult.status, stderr: commandResult.stderr }).toEqual({
          status: 0,
          stderr: "",
        });
      }
    } catch (error) {
      throw new Error(`output of the start:\n${serverOutput.slice(-4000)}`, { cause: error });
    } finally {
      if (server.exitCode === null && server.pid !== undefined) {
        const exited = once(server, "exit");
        process.kill(-server.pid, "SIGINT");
        await exited;
      }
    }
  });
});

/**
 * Symlinks the installed packages and copies the sources, so that the original clone stays
 * unchanged.
 */
const cloneScript = `
  set -eu
  cd "$FROM"
  tar -c --exclude=node_modules --exclude=.data --exclude=.git . | tar -x -C "$TO"
  ln -s "$FROM/node_modules" "$TO/node_modules"
  cd "$TO"
  git init --quiet
  git add .
`;
