import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { simulatedOutcomes } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
// Imports from `src`, because the package exports only the client. The program is a file.
import { readConfig } from "../../packages/sdk/src/command/config-file.ts";
import { outcomes } from "../../packages/sdk/src/command/pay.ts";
import { runCommand } from "../../packages/sdk/src/command/run-command.ts";
import { createTerminal } from "../../packages/sdk/src/command/testing/create-terminal.ts";
import { type Merchant, call, createMerchant } from "../rig/client.ts";
import { startServicesInProcess } from "../rig/services-in-process.ts";

type System = Awaited<ReturnType<typeof startServicesInProcess>>;
let system: System;
let merchant: Merchant;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payment-links-command-"));
  system = await startServicesInProcess();
  merchant = await createMerchant(system, "shop");
});
afterAll(async () => {
  await system?.close();
  await rm(folder, { recursive: true });
});

const createUserTerminal = (env: Record<string, string> = {}) =>
  createTerminal({
    env: {
      XDG_CONFIG_HOME: folder,
      PAYMENT_LINKS_URL: system.baseUrl,
      PAYMENT_LINKS_API_KEY: merchant.apiKey,
      ...env,
    },
    now: () => system.clock.now(),
  });

const run = async (words: string[], env: Record<string, string> = {}) => {
  const recorded = createUserTerminal(env);
  const exitCode = await runCommand(words, recorded.terminal);
  expect([...recorded.lines, ...recorded.notes].join("\n")).not.toContain(merchant.apiKey);
  return { ...recorded, exitCode };
};

const createLink = async (): Promise<string> => {
  const { exitCode, lines } = await run(["links", "create", "--amount", "25", "--json"]);
  expect(exitCode).toBe(0);
  return (JSON.parse(lines[0] ?? "") as { id: string }).id;
};

const deactivate = (id: string) =>
  call(`${system.baseUrl}/console/api/payment-links/${id}/deactivate`, {
    method: "POST",
    headers: { cookie: merchant.cookie },
  });

describe("payment-links links", () => {
  test("creates, gets and lists links", async () => {
    const created = await run([
      "links",
      "create",
      "--amount",
      "25",
      "--description",
      "Tea\u001b[2J",
    ]);
    const [id = "", url = ""] = created.lines[0]?.split("\n") ?? [];
    expect(url).toContain(`/@shop/pay/${id}`);
    const shown = await run(["links", "get", id]);
    expect(shown.exitCode).toBe(0);
    expect(shown.lines.join("\n")).toMatch(/Status +active/);
    // The description cannot control the terminal.
    expect(shown.lines.join("\n")).toMatch(/Description +Tea \[2J/);
    const otherId = await createLink();
    const listed = await run(["links", "list", "--limit", "1"]);
    expect(listed.lines).toEqual([expect.stringContaining(`${otherId}  active     0 of 25 USDC`)]);
    const completed = await run(["links", "list", "--status", "completed"]);
    expect([completed.exitCode, completed.lines]).toEqual([0, []]);
  });

  test("reports an error of the service with its code", async () => {
    const { exitCode, notes } = await run(["links", "create", "--amount", "0.00000001"]);
    expect([exitCode, notes]).toEqual([
      1,
      [expect.stringContaining("INVALID_PAYMENT_LINK_AMOUNT")],
    ]);
    const unknown = await run(["links", "get", "plink_none"]);
    expect([unknown.exitCode, unknown.notes[0]]).toEqual([
      1,
      expect.stringContaining("CANNOT_FIND_PAYMENT_LINK"),
    ]);
  });

  test("watches a link until it is inactive, and can be interrupted", async () => {
    const id = await createLink();
    const watching = createUserTerminal();
    const result = runCommand(["links", "watch", id], watching.terminal);
    await waitUntil("the link is shown", () => watching.lines.length === 1);
    await deactivate(id);
    expect(await result).toBe(3);
    expect(watching.lines).toEqual([
      expect.stringContaining("active"),
      expect.stringContaining("inactive"),
    ]);
    const interrupted = createUserTerminal();
    const otherResult = runCommand(["links", "watch", await createLink()], interrupted.terminal);
    await waitUntil("the link is shown", () => interrupted.lines.length === 1);
    interrupted.interrupt();
    expect(await otherResult).toBe(130);
  });
});

describe("payment-links pay and expire", () => {
  test("simulate payments on a test link, and only with a test key (rule MODE-7)", async () => {
    const { apiKey } = await createMerchant(system, "tester", { mode: "test" });
    const env = { PAYMENT_LINKS_API_KEY: apiKey };
    const createTestLink = async (): Promise<string> => {
      const { lines } = await run(["links", "create", "--amount", "25"], env);
      return lines[0]?.split("\n")[0] ?? "";
    };
    const id = await createTestLink();
    const partial = await run(["pay", id, "--amount", "10"], env);
    expect(partial.lines).toEqual([expect.stringMatching(/^tx_\w+ {2}settled {2}10$/)]);
    const late = await run(["pay", await createTestLink(), "--outcome", "late"], env);
    expect(late.lines).toEqual([expect.stringMatching(/^tx_\w+ {2}settled {2}25 {2}expired$/)]);
    await run(["pay", id], env);
    const watched = await run(["links", "watch", id], env);
    expect([watched.exitCode, watched.lines]).toEqual([
      0,
      [expect.stringContaining("completed  25 of 25 USDC")],
    ]);
    const expired = await run(["expire", await createTestLink()], env);
    expect(expired.lines).toEqual([expect.stringContaining("inactive")]);
    const live = await run(["pay", await createLink()]);
    expect([live.exitCode, live.notes]).toEqual([
      1,
      [expect.stringContaining("TEST_KEY_REQUIRED")],
    ]);
  });

  test("know all outcomes of the service", () => {
    expect(outcomes).toEqual(simulatedOutcomes);
  });
});

describe("payment-links doctor", () => {
  const check = async (env: Record<string, string> = {}, now = () => new Date()) => {
    const recorded = createTerminal({
      env: { XDG_CONFIG_HOME: folder, PAYMENT_LINKS_URL: system.baseUrl, ...env },
      now,
    });
    const exitCode = await runCommand(["doctor", "--json"], recorded.terminal);
    const checks = recorded.lines.map(
      (line) => JSON.parse(line) as { name: string; result: string; message: string },
    );
    return {
      exitCode,
      checks,
      find: (name: string) => checks.find((entry) => entry.name === name),
    };
  };

  test("checks the service, the clock and the key with its scopes, and creates nothing", async () => {
    const { exitCode, checks } = await check({ PAYMENT_LINKS_API_KEY: merchant.apiKey });
    expect(checks.map(({ name, result }) => [name, result])).toEqual([
      ["Service", "ok"],
      ["Clock", "ok"],
      ["API key", "ok"],
    ]);
    expect(exitCode).toBe(0);
    const { lines } = await run(["links", "list", "--limit", "10000"]);
    const countBefore = lines.length;
    await check({ PAYMENT_LINKS_API_KEY: merchant.apiKey });
    expect((await run(["links", "list", "--limit", "10000"])).lines).toHaveLength(countBefore);
  });

  test("warns about a missing scope and a wrong clock, and fails for a wrong key or address", async () => {
    const { body } = await call(`${system.baseUrl}/console/api/api-keys`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
      body: { name: "reader", scopes: ["payment_link:read"] },
    });
    const wrongTime = () => new Date(Date.now() - 120_000);
    const limited = await check({ PAYMENT_LINKS_API_KEY: String(body["key"]) }, wrongTime);
    expect(limited.exitCode).toBe(0);
    expect(limited.find("Scopes")).toMatchObject({
      result: "warning",
      message: expect.stringContaining("payment_link:create"),
    });
    expect(limited.find("Clock")).toMatchObject({
      result: "warning",
      message: expect.stringMatching(/differs .* by 1[12]\d s/),
    });
    const wrongKey = await check({ PAYMENT_LINKS_API_KEY: `${merchant.apiKey.slice(0, -1)}0` });
    expect([wrongKey.exitCode, wrongKey.find("API key")?.result]).toEqual([1, "failed"]);
    const wrongUrl = await check({ PAYMENT_LINKS_URL: "http://127.0.0.1:1" });
    expect([wrongUrl.exitCode, wrongUrl.find("Service")?.result]).toEqual([1, "failed"]);
  });
});

describe("payment-links login", () => {
  const startLogin = async () => {
    const signingIn = createUserTerminal({ PAYMENT_LINKS_API_KEY: "" });
    const result = runCommand(["login", "--name", "work laptop"], signingIn.terminal);
    await waitUntil("the code is shown", () => signingIn.lines.length > 0);
    const [, code = ""] = /code: (\S+)$/.exec(signingIn.lines[0] ?? "") ?? [];
    return { ...signingIn, result, code };
  };

  const decide = (code: string, decision: "allow" | "deny", body?: object) =>
    call(`${system.baseUrl}/console/api/api-keys/sign-ins/${code}/${decision}`, {
      method: "POST",
      headers: { cookie: merchant.cookie },
      body,
    });

  test("stores a key that works, without showing it (rule CALLER-47)", async () => {
    const { code, lines, result } = await startLogin();
    expect(lines[0]).toContain("/console/command and enter this code");
    const { status } = await decide(code, "allow", { scopes: ["payment_link:read"] });
    expect(status).toBe(204);
    expect(await result).toBe(0);
    const config = await readConfig({ XDG_CONFIG_HOME: folder });
    expect(config?.url).toBe(system.baseUrl);
    expect(lines.join("\n")).not.toContain(config?.apiKey);
    const { exitCode } = await run(["links", "list"], { PAYMENT_LINKS_API_KEY: "" });
    expect(exitCode).toBe(0);
  });

  test("ends with an error if it is denied", async () => {
    const { code, notes, result } = await startLogin();
    await decide(code, "deny");
    expect(await result).toBe(1);
    expect(notes.at(-1)).toContain("denied");
  });
});
