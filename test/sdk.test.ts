import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import {
  publicOperationIds,
  sdkTypesFile,
  writeSdkTypes,
} from "./openapi-types/write-sdk-types.ts";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { projectRoot } from "./rig/child.ts";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { readBlocks } from "./rig/read-blocks.ts";
import { signWebhook } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { sendPartialRequest } from "./rig/send-partial-request.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import type { System } from "./rig/system.ts";

test("the SDK's types match the current public OpenAPI document", async () => {
  expect(await readFile(join(projectRoot, sdkTypesFile), "utf8")).toBe(writeSdkTypes());
});

describe("a shop that has installed the output of `npm pack`", () => {
  let shop: string;
  let system: System;
  let merchant: Merchant;
  let receiver: ChildProcess;
  let receiverPort = 0;
  let receiverOutput = "";
  let env: Record<string, string>;

  const runCommand = (program: string, ...args: string[]): string =>
    execFileSync(program, args, { cwd: shop, env, encoding: "utf8", timeout: commandMsMax });

  beforeAll(async () => {
    shop = await mkdtemp(join(tmpdir(), "payment-links-shop-"));
    const readme = await readFile(join(projectRoot, "packages/sdk/README.md"), "utf8");
    const [port = 0, docsPort = 0] = await findFreePorts(2);
    receiverPort = port;
    system = await startAllInOneSystem(buildShopEnv({ port }));
    merchant = await createMerchant(system, "alice");
    const { secret } = await registerEndpoint(system, merchant, "https://receiver.test/hook");
    env = {
      ...getInheritedEnv(),
      HOME: process.env["HOME"] ?? shop,
      SHOP: shop,
      URL: system.baseUrl,
      KEY: merchant.apiKey,
      SECRET: secret,
      // The names in the docs.
      BASE_URL: system.baseUrl,
      API_KEY: merchant.apiKey,
      PORT: String(docsPort),
    };
    // The code is unchanged except for the port, because another test can use the same port.
    const headings = ["Request a payment", "Receive a payment", "Wait for a payment", "Catch up"];
    for (const heading of headings) {
      const [program] = readBlocks(readme, heading);
      const [, name = ""] = /^\/\/ (\S+)\n/.exec(program?.text ?? "") ?? [];
      await writeFile(join(shop, name), program?.text.replace("9000", String(port)) ?? "");
    }
    const [installBlock] = readBlocks(readme, "Install");
    await writeFile(join(shop, "package.json"), '{ "type": "module" }');
    execFileSync("bash", ["-c", `set -eu\n${installBlock?.text}`], {
      cwd: projectRoot,
      env,
      timeout: commandMsMax,
    });
    receiver = spawn(process.execPath, ["receive.mjs"], { cwd: shop, env });
    receiver.stdout?.on("data", (chunk: Buffer) => (receiverOutput += chunk.toString()));
  });

  afterAll(async () => {
    receiver?.kill();
    await system?.close();
    await rm(shop, { recursive: true, force: true });
  });

  test("creates a payment link and receives its webhook with the README's own code", async () => {
    const [createOutput = "", listOutput = ""] = runCommand(process.execPath, "ask.mjs").split(
      "\n",
    );
    const [, url = "", id = ""] = /^Send the payer to (\S+\/(plink_\w+))$/.exec(createOutput) ?? [];
    expect(url).toBe(`${system.baseUrl}/@alice/pay/${id}`);
    expect(listOutput).toBe("Order 1001: 0 of 25");
    // Repeating the order returns the same link.
    expect(runCommand(process.execPath, "ask.mjs").split("\n")).toEqual([
      createOutput,
      listOutput,
      "",
    ]);

    // An unrelated request that breaks off in the middle must not crash the receiver.
    await waitUntil("the receiver listens", () => sendPartialRequest(receiverPort));
    const notice = { id: "payment-1", paymentLinkId: id, amount: "25", status: "settled" as const };
    expect(await sendNotice(system.baseUrl, acmeProvider, notice)).toBe(202);
    await waitUntil("the webhook arrives", () => receiverOutput.includes("\n"));
    expect(receiverOutput).toBe("Order 1001 is paid: 25 of 25\n");

    expect(runCommand(process.execPath, "wait.mjs", id)).toBe("completed: 25 received\n");
    // The second run starts where the first one ended, and repeats the last five minutes.
    for (let run = 1; run <= 2; run += 1)
      expect(runCommand(process.execPath, "catch-up.mjs")).toBe(
        "Order 1001 is completed: 25 received\n",
      );
    expect(Date.parse(await readFile(join(shop, "since.txt"), "utf8"))).not.toBeNaN();
  });

  test("resolves in Node and in bundlers", () => {
    const publint = join(projectRoot, "node_modules/.bin/publint");
    const archive = join(shop, "payment-links-sdk-1.0.0.tgz");
    expect(runCommand(publint, archive, "--strict")).toContain("All good!");
    const names = [
      "@payment-links/sdk",
      ...["express", "fastify", "web"].map((name) => `@payment-links/sdk/${name}`),
    ];
    const code = `for (const name of ${JSON.stringify(names)}) console.log(Object.keys(await import(name)).join(" "));`;
    const [, ...adapterExports] = runCommand(
      process.execPath,
      "--input-type=module",
      "--eval",
      code,
    )
      .trim()
      .split("\n");
    expect(adapterExports).toEqual(["receiveWebhooks", "receiveWebhooks", "receiveWebhooks"]);
  });

  test("gets links, pages and errors exactly as the service returns them", async () => {
    await writeFile(
      join(shop, "read.mjs"),
      `
        import { PaymentLinksError, createPaymentLinks } from "@payment-links/sdk";
        const { URL: url, KEY: apiKey } = process.env;
        const paymentLinks = createPaymentLinks({ url, apiKey });
        for (let n = 1; n <= 12; n += 1) {
          await paymentLinks.createPaymentLink({ toAmount: \`0.\${n}1\` });
        }
        const each = [];
        for await (const { toAmount } of paymentLinks.eachPaymentLink({ status: "active" })) each.push(toAmount);
        const page = await paymentLinks.listPaymentLinks({ status: "active", offset: 10 });
        const link = await createPaymentLinks({ url }).retrievePaymentLink(page.data[0].id);
        const told = (call) => call.catch((error) => error instanceof PaymentLinksError && error);
        const refusals = await Promise.all([
          told(paymentLinks.retrievePaymentLink("plink_nobody")),
          told(paymentLinks.createPaymentLink({ toAmount: "0", maxUsage: 0 })),
          told(createPaymentLinks({ url, apiKey: "nobody" }).listPaymentLinks()),
        ]);
        console.log(JSON.stringify({ each, page, link, methods: Object.keys(paymentLinks),
          refusals: refusals.map(({ code, problems, requestId, status }) => ({ code, count: problems.length, isNamed: requestId.length > 9, status })) }));
      `,
    );
    const result = JSON.parse(runCommand(process.execPath, "read.mjs")) as Record<string, unknown>;
    const amounts = Array.from({ length: 12 }, (_, index) => `0.${12 - index}1`);
    expect(result).toMatchObject({
      each: amounts,
      page: { limit: 10, offset: 10, nextOffset: null },
      link: { toAmount: "0.21", status: "active", user: { handle: "alice" } },
      refusals: [
        { code: "CANNOT_FIND_PAYMENT_LINK", count: 1, isNamed: true, status: 404 },
        { code: "greater_than", count: 2, isNamed: true, status: 422 },
        { code: "INVALID_API_KEY", count: 1, isNamed: true, status: 401 },
      ],
    });
    expect(result["methods"]).toEqual(expect.arrayContaining([...publicOperationIds()]));
  });

  /** Writes the TypeScript program of a section of the docs to the shop. */
  const writeDocsProgram = async (page: string, heading: string, file: string): Promise<void> => {
    const text = await readFile(join(projectRoot, `packages/docs/content/${page}.md`), "utf8");
    const program = readBlocks(text, heading).find(({ language }) => language === "ts");
    await writeFile(join(shop, file), program?.text ?? "");
  };

  test("lists the changed links with the docs' own code (rule DOCS-3)", async () => {
    await writeDocsProgram("orders", "Reconcile", "reconcile.ts");
    const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey },
      body: { toAmount: "0.7" },
    });
    const output = runCommand(process.execPath, "reconcile.ts");
    expect(output.split("\n")[0]).toBe(`${String(body["id"])} active 0 of 0.7`);
  });

  test("receives a webhook with the docs' own code for Express (rule DOCS-3)", async () => {
    await symlink(
      join(projectRoot, "node_modules/express"),
      join(shop, "node_modules/express"),
      "dir",
    );
    await writeDocsProgram("webhooks", "Receivers", "express.ts");
    const docsReceiver = spawn(process.execPath, ["express.ts"], { cwd: shop, env });
    try {
      let output = "";
      docsReceiver.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
      const data = { paymentLinkId: "plink_1" };
      const body = JSON.stringify({ id: "evt_1", type: "payment_link.completed", data });
      const url = `http://127.0.0.1:${env["PORT"]}/webhooks`;
      const headers = signWebhook(env["SECRET"] ?? "", body);
      const send = () => fetch(url, { method: "POST", headers, body });
      const isSent = () =>
        send()
          .then(({ status }) => status === 204)
          .catch(() => false);
      await waitUntil("the receiver responds with 204", isSent);
      await waitUntil("the receiver prints the link", () => output.includes("\n"));
      expect(output).toBe("plink_1\n");
    } finally {
      docsReceiver.kill();
    }
  });

  test("has useful types: an amount is a string, and each webhook type has its own data", async () => {
    await writeFile(
      join(shop, "typed.ts"),
      `
        import { createPaymentLinks, isWebhook, readWebhook } from "@payment-links/sdk";
        import { receiveWebhooks } from "@payment-links/sdk/web";
        const paymentLinks = createPaymentLinks({ url: "https://pay.example.com", apiKey: "a" });
        const { id, url }: { id: string; url: string } = await paymentLinks.createPaymentLink({ toAmount: "25" });
        // @ts-expect-error a number of JavaScript is a float
        await paymentLinks.createPaymentLink({ toAmount: 0.1 });
        // @ts-expect-error there is no such status
        await paymentLinks.listPaymentLinks({ status: "paid" });
        const webhook = await readWebhook({ body: id, headers: new Headers() }, { secret: url });
        if (isWebhook(webhook, "payment_link.transaction.succeeded")) {
          const hash: string | null = webhook.data.transaction.sourceTransaction;
          console.log(hash);
        }
        export const POST: (request: Request) => Promise<Response> = receiveWebhooks({ secret: url }, (received) => {
          if (isWebhook(received, "payment_link.completed")) console.log(received.data.receivedAmount);
        });
        const changes = paymentLinks.reconcilePaymentLinks({ since: null });
        for await (const { receivedAmount } of changes) console.log(receivedAmount);
        const nextSince: string | undefined = changes.nextSince;
        console.log(nextSince);
        // @ts-expect-error its type is not known here
        console.log(webhook.data.transaction.sourceTransaction);
      `,
    );
    const tsc = join(projectRoot, "node_modules/.bin/tsc");
    for (const module of ["nodenext", "preserve"]) {
      runCommand(tsc, "--noEmit", "--strict", "--target", "es2022", "--module", module, "typed.ts");
    }
  });
});
