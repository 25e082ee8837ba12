import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { startAllInOneSystem } from "../rig/all-in-one-system.ts";
import { projectRoot } from "../rig/child.ts";
import { type Merchant, createMerchant, sendNotice } from "../rig/client.ts";
import { readBlocks } from "../rig/read-blocks.ts";
import { type WebhookReceiver, isSignedWith, startReceiver } from "../rig/receiver.ts";
import { acmeProvider, buildShopEnv } from "../rig/shop-env.ts";
import type { System } from "../rig/system.ts";

let folder: string;
let receiver: WebhookReceiver;
let system: System;
let merchant: Merchant;
let page: string;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payment-links-command-"));
  receiver = await startReceiver();
  system = await startAllInOneSystem(buildShopEnv(receiver));
  merchant = await createMerchant(system, "shop");
  page = await readFile(join(projectRoot, "packages/docs/content/command-line.md"), "utf8");
  const program = join(projectRoot, "packages/sdk/src/command/main.ts");
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  const binFolder = join(folder, "bin");
  await mkdir(binFolder);
  await writeFile(join(binFolder, "payment-links"), script, { mode: 0o755 });
  const inheritedEnv = getInheritedEnv();
  env = {
    ...inheritedEnv,
    PATH: `${binFolder}:${inheritedEnv["PATH"] ?? ""}`,
    XDG_CONFIG_HOME: folder,
    PAYMENT_LINKS_URL: system.baseUrl,
    PAYMENT_LINKS_API_KEY: merchant.apiKey,
  };
});
afterAll(async () => {
  await system?.close();
  await receiver?.close();
  await rm(folder, { recursive: true });
});

const runShell = (text: string): string =>
  execFileSync("bash", ["-ec", text], { env, encoding: "utf8", timeout: commandMsMax });

const readShellBlock = (heading: string): string => {
  const block = readBlocks(page, heading).find(({ language }) => language === "sh");
  if (block === undefined) throw new Error(`the section ${heading} has no code`);
  return block.text;
};

test("the page Command line creates and lists a link as it says (rule DOCS-3)", () => {
  const output = runShell(readShellBlock("Links"));
  expect(output).toMatch(/Status +active/);
  expect(output).toMatch(/^plink_\w+ {2}active {5}0 of 25 USDC {2}Order 1001$/m);
});

test("the page Command line has a line that completes commands (rule DOCS-3)", () => {
  const completed = runShell(
    `${readShellBlock("Completion")}\nCOMP_WORDS=(payment-links doc)\nCOMP_CWORD=1\n_payment_links\necho "$COMPREPLY"`,
  );
  expect(completed).toBe("doctor\n");
});

test("listen forwards the webhooks of a payment, and Ctrl-C ends it (rule HOOK-22)", async () => {
  const receiverUrl = `http://127.0.0.1:${receiver.port}/hook`;
  const listening: ChildProcess = spawn("payment-links", ["listen", "--forward-to", receiverUrl], {
    env,
  });
  let output = "";
  listening.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  listening.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await waitUntil("it listens", () => output.includes("Press Ctrl-C to end."));
  const [, secret = ""] = /Signing secret: (whsec_\S+)/.exec(output) ?? [];
  const paymentLinkId = runShell("payment-links links create --amount 25").split("\n")[0] ?? "";
  const notice = { id: "payment_1", paymentLinkId, status: "settled", amount: "25" } as const;
  expect(await sendNotice(system.baseUrl, acmeProvider, notice)).toBeLessThan(300);
  await waitUntil("both webhooks are printed", () => output.split(paymentLinkId).length === 3);
  expect(output).toMatch(
    new RegExp(
      `^\\d\\d:\\d\\d:\\d\\d  payment_link.completed  ${paymentLinkId}  204  \\d+ ms$`,
      "m",
    ),
  );
  expect(receiver.received.map((webhook) => isSignedWith(secret, webhook))).toEqual([true, true]);
  expect(runShell(`payment-links links watch ${paymentLinkId}`)).toContain("completed  25 of 25");
  listening.kill("SIGINT");
  const [exitCode] = (await once(listening, "exit")) as [number | null];
  expect(exitCode).toBe(0);
});
