import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { buildAdminEnv } from "./rig/build-admin-env.ts";
import { projectRoot } from "./rig/child.ts";
import { readAllBlocks, readBlocks } from "./rig/read-blocks.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { findOrBuildBtcd } from "@payment-links/local-chains/bitcoin/find-btcd";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";

/** If btcd is not available, the code block for Bitcoin and its output are omitted. */
const hasBitcoin = typeof (await findOrBuildBtcd()) === "string";

const splitLines = (text: string): string[] => text.trim().split("\n");

describe("the docs' pages Quickstart and Local chains", () => {
  let quickstartPage = "";
  let ordersPage = "";
  let localChainsPage = "";
  let operationsPage = "";
  let directory = "";

  beforeAll(async () => {
    quickstartPage = await readPage("quickstart");
    ordersPage = await readPage("orders");
    localChainsPage = await readPage("local-chains");
    operationsPage = await readPage("operations");
    directory = await mkdtemp(join(tmpdir(), "payment-links-quickstart-"));
    // If root starts Postgres, Postgres runs as another user. This user needs access to the
    // directory.
    await chmod(directory, 0o755);
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("the first payment, and the payments that continue it, work word for word (rule DOCS-3)", async () => {
    const firstPaymentBlocks = readAllBlocks(quickstartPage);
    const blocks = [
      ...firstPaymentBlocks.slice(0, -1),
      ...readBlocks(localChainsPage, "A payment from a provider"),
      ...readBlocks(localChainsPage, "Solana, Tron and Bitcoin"),
      { language: "sh", text: writeReconcileCommands(ordersPage) },
      // Stops the receiver.
      ...firstPaymentBlocks.slice(-1),
    ].filter(({ text }) => hasBitcoin || !/local.bitcoin/i.test(text));
    // Only ports and time limits differ from the pages: another program can use the default ports,
    // and a busy machine takes longer.
    const [port = 0, internalPort = 0, receiverPort = 0] = await findFreePorts(3);
    const [startScript, ...laterScripts] = blocks
      .filter(({ language }) => language === "sh")
      .map(({ text }) =>
        text
          .replaceAll("8080", `${port}`)
          .replaceAll("9000", `${receiverPort}`)
          .replaceAll("timeout 20 ", "timeout 200 "),
      );
    const outputBlocks = blocks.filter(({ language }) => language === "text");
    if (startScript === undefined || outputBlocks.length === 0)
      throw new Error("a section is missing");
    // Simulates two terminals in a clone. The clone has the same sources, and its own `.data`
    // folder and files.
    const cloneResult = spawnSync("bash", ["-c", cloneScript], {
      env: { ...process.env, FROM: projectRoot, TO: directory },
      encoding: "utf8",
    });
    expect(cloneResult.stderr).toBe("");
    const commonEnv = { ...process.env, HOME: process.env["HOME"] ?? directory };
    const server = spawn("bash", ["-c", startScript], {
      cwd: directory,
      env: { ...commonEnv, PORT: `${port}`, INTERNAL_PORT: `${internalPort}` },
      detached: true,
    });
    const env = { ...commonEnv, ...buildAdminEnv(`http://127.0.0.1:${internalPort}`) };
    let serverOutput = "";
    server.stdout.on("data", (chunk: Buffer) => (serverOutput += chunk.toString()));
    server.stderr.on("data", (chunk: Buffer) => (serverOutput += chunk.toString()));
    try {
      await waitUntil(
        "the all-in-one is ready or has exited",
        () => serverOutput.includes("Payment Links is ready") || server.exitCode !== null,
      );
      const script = ["set -eu", ...laterScripts].join("\n");
      const scriptResult = spawnSync("bash", ["-c", script], {
        cwd: directory,
        env,
        encoding: "utf8",
        timeout: commandMsMax,
      });
      expect({ status: scriptResult.status, stderr: scriptResult.stderr }).toEqual({
        status: 0,
        stderr: "",
      });
      // Page URLs and transaction IDs are different in each run. Webhooks can arrive in any order.
      const outputLines = splitLines(scriptResult.stdout).filter(
        (line) => !/^(http|\{|plink_)/.test(line),
      );
      // Each link of the list is completed: one per local chain, and one of the provider.
      const listedLines = splitLines(scriptResult.stdout).filter((line) =>
        line.startsWith("plink_"),
      );
      expect(listedLines).toHaveLength(hasBitcoin ? 5 : 4);
      for (const line of listedLines) expect(line).toMatch(/^plink_\w+ completed (\S+) of \1$/);
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

const readPage = (name: string): Promise<string> =>
  readFile(join(projectRoot, `packages/docs/content/${name}.md`), "utf8");

/** Returns commands that run the code of the page *From order to refund* that reconciles orders. */
const writeReconcileCommands = (page: string): string => {
  const [code = ""] = readBlocks(page, "Reconcile")
    .filter(({ language }) => language === "python")
    .map(({ text }) => text);
  return `cat > received.py <<'END'\n${code}END\nBASE_URL=$url API_KEY=$key python3 received.py\nrm received.py\n`;
};

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
