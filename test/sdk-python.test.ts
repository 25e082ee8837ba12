import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { isSoakRun } from "@payment-links/runtime/testing/property-runs";
import { stopChild } from "@payment-links/runtime/testing/stop-child";
import { commandMsMax, hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { parseFaultMix } from "./hostile-server/faults.ts";
import { type HostileServer, startHostileServer } from "./hostile-server/start-hostile-server.ts";
import { pythonTypesFile, writePythonTypes } from "./openapi-types/write-python-types.ts";
import { publicOperationIds } from "./openapi-types/write-sdk-types.ts";
import { startAllInOneSystem } from "./rig/all-in-one-system.ts";
import { projectRoot } from "./rig/child.ts";
import { type Merchant, call, createMerchant, sendNotice } from "./rig/client.ts";
import { type PythonTools, findPython, preparePython } from "./rig/prepare-python.ts";
import { readAllBlocks, readBlocks } from "./rig/read-blocks.ts";
import { signWebhook } from "./rig/receiver.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { sendPartialRequest } from "./rig/send-partial-request.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import type { System } from "./rig/system.ts";

const packageFolder = join(projectRoot, "packages/sdk-python");
const run = promisify(execFile);

const python3 = await findPython();
const describeWithPython = (title: string, body: () => void): void =>
  python3 === undefined
    ? describe.skip(`${title} (no python3 3.10 with venv)`, body)
    : describe(title, body);

test("the Python SDK's types match the current public OpenAPI document", async () => {
  expect(await readFile(join(projectRoot, pythonTypesFile), "utf8")).toBe(writePythonTypes());
});

describeWithPython("the Python SDK", () => {
  let tools: PythonTools;
  beforeAll(async () => {
    tools = await preparePython(python3 ?? "");
  });

  const runModule = async (...args: string[]): Promise<string> => {
    const env = { ...getInheritedEnv(), PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1" };
    const options = { cwd: packageFolder, env, timeout: hangLimitMs(60_000) };
    const { stdout } = await run(tools.python, ["-m", ...args], options).catch(
      (error: Error & { stdout?: string }) => {
        throw new Error(`${args.join(" ")}: ${error.stdout}`, { cause: error });
      },
    );
    return stdout;
  };

  test("passes its own tests (rule ERROR-4)", async () => {
    expect(await runModule("pytest", "--quiet")).toMatch(/ passed in /);
  });

  test("is fully typed, and has no lint errors", async () => {
    await runModule("mypy", "--cache-dir", "/dev/null");
    await runModule("ruff", "check", "--no-cache");
    await runModule("ruff", "format", "--check", "--no-cache");
  });

  test("can be built, and its package pages are valid", async () => {
    const folder = await mkdtemp(join(tmpdir(), "payment-links-python-"));
    try {
      await runModule("build", "--no-isolation", "--outdir", folder);
      const files = ["payment_links_sdk-1.0.0-py3-none-any.whl", "payment_links_sdk-1.0.0.tar.gz"];
      await runModule("twine", "check", "--strict", ...files.map((file) => join(folder, file)));
      const wheel = await runModule("zipfile", "--list", join(folder, files[0] ?? ""));
      expect(wheel).toContain("payment_links/py.typed");
      expect(wheel).not.toContain("tests");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  describe("with a server that fails in every way", () => {
    let server: HostileServer;
    const seed = 7;
    const callCount = isSoakRun ? 10_000 : 5_000;
    beforeAll(async () => {
      // A stalled response takes a real second.
      server = await startHostileServer({ seed, faults: parseFaultMix("stall=0.0005") });
    });
    afterAll(() => server?.close());

    test.each(["sync", "async"])(
      "makes no second link and loses no amount in thousands of %s calls",
      async (kind) => {
        const module = "tests.hostile_calls";
        const output = await runModule(module, server.url, kind, String(seed), String(callCount));
        const outcomes = JSON.parse(output) as Record<string, number>;
        const total = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
        expect(total).toBe(callCount);
        expect((outcomes["created"] ?? 0) + (outcomes["read"] ?? 0)).toBeGreaterThan(
          callCount * 0.9,
        );
        expect(outcomes["NoAnswerError"]).toBeGreaterThan(0);
      },
    );
  });

  describe("in a shop that has installed it", () => {
    let shop: string;
    let system: System;
    let merchant: Merchant;
    let receiver: ChildProcess;
    let receiverPort = 0;
    let receiverOutput = "";
    let env: Record<string, string>;

    const runPython = (...args: string[]): string => runPythonAs(merchant, ...args);

    const runPythonAs = ({ apiKey }: Merchant, ...args: string[]): string =>
      execFileSync(join(shop, ".venv/bin/python"), args, {
        cwd: shop,
        env: { ...env, KEY: apiKey, API_KEY: apiKey },
        encoding: "utf8",
        timeout: commandMsMax,
      });

    beforeAll(async () => {
      shop = await mkdtemp(join(tmpdir(), "payment-links-shop-"));
      const readme = await readFile(join(packageFolder, "README.md"), "utf8");
      const [port = 0] = await findFreePorts(1);
      receiverPort = port;
      system = await startAllInOneSystem(buildShopEnv({ port }));
      merchant = await createMerchant(system, "alice");
      const { secret } = await registerEndpoint(system, merchant, "https://receiver.test/hook");
      env = {
        ...getInheritedEnv(),
        ...tools.pipEnv,
        HOME: process.env["HOME"] ?? shop,
        SHOP: shop,
        URL: system.baseUrl,
        // The name in the docs.
        BASE_URL: system.baseUrl,
        SECRET: secret,
      };
      // The code is unchanged except for the port, because another test can use the same port.
      for (const { language, text } of readAllBlocks(readme)) {
        const [, name] = /^# (\S+)\n/.exec(text) ?? [];
        if (language === "python" && name !== undefined)
          await writeFile(join(shop, name), text.replace("9000", String(port)));
      }
      const [installBlock] = readBlocks(readme, "Install");
      execFileSync("bash", ["-c", `set -eu\n${installBlock?.text}`], {
        cwd: projectRoot,
        env,
        timeout: commandMsMax,
      });
      receiver = spawn(join(shop, ".venv/bin/python"), ["receive.py"], { cwd: shop, env });
      receiver.stdout?.on("data", (chunk: Buffer) => (receiverOutput += chunk.toString()));
    });

    afterAll(async () => {
      if (receiver !== undefined) await stopChild(receiver);
      await system?.close();
      await rm(shop, { recursive: true, force: true });
    });

    test("creates a payment link, receives its webhook and catches up with the README's own code (rule API-44)", async () => {
      const [createOutput = "", listOutput = ""] = runPython("ask.py").split("\n");
      const [, url = "", id = ""] =
        /^Send the payer to (\S+\/(plink_\w+))$/.exec(createOutput) ?? [];
      expect(url).toBe(`${system.baseUrl}/@alice/pay/${id}`);
      expect(listOutput).toBe("Order 1001: 0 of 25");
      // Repeating the order returns the same link, also from the asynchronous client.
      for (const program of ["ask.py", "ask_async.py"])
        expect(runPython(program).split("\n")).toEqual([createOutput, listOutput, ""]);

      // An unrelated request that breaks off in the middle must not crash the receiver.
      await waitUntil("the receiver listens", () => sendPartialRequest(receiverPort));
      const status = "settled" as const;
      const notice = { id: "payment-1", paymentLinkId: id, amount: "25", status };
      expect(await sendNotice(system.baseUrl, acmeProvider, notice)).toBe(202);
      await waitUntil("the webhook arrives", () => receiverOutput.includes("\n"));
      expect(receiverOutput).toBe("Order 1001 is paid: 25 of 25\n");

      expect(runPython("wait.py", id)).toBe("completed: 25 received\n");
      // The second run starts where the first one ended, and repeats the last five minutes.
      for (let runNumber = 1; runNumber <= 2; runNumber += 1)
        expect(runPython("catch_up.py")).toBe("Order 1001 is completed: 25 received\n");
      expect(Date.parse(await readFile(join(shop, "since.txt"), "utf8"))).not.toBeNaN();
    });

    /** Writes the last Python program of a section of the docs to the shop. */
    const writeDocsProgram = async (page: string, heading: string, file: string): Promise<void> => {
      const text = await readFile(join(projectRoot, `packages/docs/content/${page}.md`), "utf8");
      const programs = readBlocks(text, heading).filter(({ language }) => language === "python");
      const program = programs.at(-1)?.text ?? "";
      await writeFile(join(shop, file), program.replace("https://pay.example.com", system.baseUrl));
    };

    test("creates a link with the docs' own code (rule DOCS-3)", async () => {
      await writeDocsProgram("api", "The SDKs", "order.py");
      const dave = await createMerchant(system, "dave");
      runPythonAs(dave, "order.py");
      const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
        headers: { "x-api-key": dave.apiKey },
      });
      expect(body["data"]).toMatchObject([{ description: "Order 1001", toAmount: "25" }]);
    });

    test("lists the changed links with the docs' own code (rule DOCS-3)", async () => {
      await writeDocsProgram("orders", "Reconcile", "reconcile.py");
      const bob = await createMerchant(system, "bob");
      for (const toAmount of ["0.71", "0.72"]) {
        const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
          method: "POST",
          headers: { "x-api-key": bob.apiKey },
          body: { toAmount },
        });
        const [firstLine] = runPythonAs(bob, "reconcile.py").split("\n");
        expect(firstLine).toBe(`${String(body["id"])} active 0 of ${toAmount}`);
      }
    });

    test("receives a webhook with the docs' own code for Flask (rule DOCS-3)", async () => {
      await writeDocsProgram("webhooks", "Receivers", "flask_receiver.py");
      runPython("-m", "pip", "install", "--quiet", "flask");
      const [port = 0] = await findFreePorts(1);
      const args = ["-m", "flask", "--app", "flask_receiver", "run", "--port", String(port)];
      const docsReceiver = spawn(join(shop, ".venv/bin/python"), args, { cwd: shop, env });
      try {
        let output = "";
        docsReceiver.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
        const data = { paymentLinkId: "plink_1" };
        const body = JSON.stringify({ id: "evt_1", type: "payment_link.completed", data });
        const url = `http://127.0.0.1:${port}/webhooks`;
        const send = (secret: string): Promise<number | undefined> =>
          fetch(url, { method: "POST", headers: signWebhook(secret, body), body })
            .then(({ status }) => status)
            .catch(() => undefined);
        await waitUntil("the receiver listens", async () => (await send("whsec_a")) === 401);
        expect(await send(env["SECRET"] ?? "")).toBe(204);
        await waitUntil("the receiver prints the link", () => output.includes("plink_1\n"));
      } finally {
        await stopChild(docsReceiver);
      }
    });

    test("gets links, pages and errors exactly as the service returns them", async () => {
      await writeFile(join(shop, "read.py"), readProgram);
      const carol = await createMerchant(system, "carol");
      const result = JSON.parse(runPythonAs(carol, "read.py")) as Record<string, unknown>;
      const amounts = Array.from({ length: 12 }, (_, index) => `0.${12 - index}1`);
      const expected = {
        each: amounts,
        page: { limit: 10, offset: 10, nextOffset: null },
        link: { toAmount: "0.21", status: "active", user: { handle: "carol" } },
        refusals: [
          { code: "CANNOT_FIND_PAYMENT_LINK", count: 1, isNamed: true, status: 404 },
          { code: "greater_than", count: 2, isNamed: true, status: 422 },
          { code: "INVALID_API_KEY", count: 1, isNamed: true, status: 401 },
        ],
      };
      expect(result).toMatchObject({ sync: expected, async: expected });
      const methods = publicOperationIds().map((id) =>
        id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
      expect(result["methods"]).toEqual(expect.arrayContaining(methods));
      expect(result["asyncMethods"]).toEqual(expect.arrayContaining(methods));
    });

    test("has useful types: an amount is exact, and each webhook type has its own data", async () => {
      await writeFile(join(shop, "typed.py"), typedProgram);
      const interpreter = join(shop, ".venv/bin/python");
      const args = ["--strict", "--cache-dir", "/dev/null", "--python-executable", interpreter];
      const options = { cwd: shop, timeout: commandMsMax };
      const { stdout } = await run(
        tools.python,
        ["-m", "mypy", ...args, "typed.py"],
        options,
      ).catch((error: Error & { stdout?: string }) => ({ stdout: error.stdout }));
      expect(stdout).toBe("Success: no issues found in 1 source file\n");
    });
  });
});

/** Makes the same calls with both clients, and prints the results as JSON. */
const readProgram = `
import asyncio
import json
import os

from payment_links import AsyncPaymentLinks, PaymentLinks, PaymentLinksError

URL, KEY = os.environ["URL"], os.environ["KEY"]

def describe(error):
    return {"code": error.code, "count": len(error.problems), "isNamed": len(error.request_id) > 9, "status": error.status}

def refused(call):
    try:
        call()
    except PaymentLinksError as error:
        return describe(error)

def read():
    with PaymentLinks(URL, KEY) as payment_links, PaymentLinks(URL) as public, PaymentLinks(URL, "unknown") as other:
        for n in range(1, 13):
            payment_links.create_payment_link({"toAmount": f"0.{n}1"}, idempotency_key=f"read-{n}")
        each = [link["toAmount"] for link in payment_links.each_payment_link(status="active")]
        page = payment_links.list_payment_links(status="active", offset=10)
        link = public.retrieve_payment_link(page["data"][0]["id"])
        refusals = [
            refused(lambda: payment_links.retrieve_payment_link("plink_unknown")),
            refused(lambda: payment_links.create_payment_link({"toAmount": "0", "maxUsage": 0})),
            refused(lambda: other.list_payment_links()),
        ]
    return {"each": each, "page": page, "link": link, "refusals": refusals}

async def refused_async(call):
    try:
        await call
    except PaymentLinksError as error:
        return describe(error)

async def read_async():
    async with AsyncPaymentLinks(URL, KEY) as payment_links, AsyncPaymentLinks(URL) as public, AsyncPaymentLinks(URL, "unknown") as other:
        for n in range(1, 13):
            await payment_links.create_payment_link({"toAmount": f"0.{n}1"}, idempotency_key=f"read-{n}")
        each = [link["toAmount"] async for link in payment_links.each_payment_link(status="active")]
        page = await payment_links.list_payment_links(status="active", offset=10)
        link = await public.retrieve_payment_link(page["data"][0]["id"])
        refusals = [
            await refused_async(payment_links.retrieve_payment_link("plink_unknown")),
            await refused_async(payment_links.create_payment_link({"toAmount": "0", "maxUsage": 0})),
            await refused_async(other.list_payment_links()),
        ]
    return {"each": each, "page": page, "link": link, "refusals": refusals}

print(json.dumps({"sync": read(), "async": asyncio.run(read_async()), "methods": dir(PaymentLinks), "asyncMethods": dir(AsyncPaymentLinks)}))
`;

/** With \`--strict\`, mypy reports an error that is expected here but missing. */
const typedProgram = `
from decimal import Decimal

from payment_links import PaymentLinks, is_webhook, read_webhook

payment_links = PaymentLinks("https://pay.example.com", "a")
link = payment_links.create_payment_link({"toAmount": Decimal("25")})
url: str = link["url"]
payment_links.create_payment_link({"toAmount": 0.1})  # type: ignore[typeddict-item]
payment_links.create_payment_link({"toAmount": "1", "max_usage": 1})  # type: ignore[typeddict-unknown-key]
payment_links.list_payment_links(status="paid")  # type: ignore[arg-type]
webhook = read_webhook(b"", {"a": "b"}, secret=url)
if is_webhook(webhook, "payment_link.transaction.succeeded"):
    hash: str | None = webhook["data"]["transaction"]["sourceTransaction"]
other_webhook = read_webhook(b"", {}, secret=[url])
# Its type is not known here.
other_webhook["data"]["transaction"]["sourceTransaction"]  # type: ignore[index]
`;
