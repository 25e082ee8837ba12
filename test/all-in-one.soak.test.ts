import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { CatalogueData } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Child } from "./rig/child.ts";
import { createMerchant } from "./rig/client.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { useDataFolder } from "./rig/use-data-folder.ts";

const singleTokenCatalogue: CatalogueData = {
  chains: [{ id: "1", name: "Ethereum", symbol: "ETH", chainType: "EVM", caip2: "eip155:1" }],
  tokens: [
    {
      id: "usdc-ethereum",
      chainId: "1",
      address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
      decimals: 6,
      symbol: "USDC",
      name: "USD Coin",
      isNative: false,
      isStablecoin: true,
      currencyCode: "USD",
      commodityCode: null,
      source: "a test",
      verifiedOn: "2026-11-22",
    },
  ],
};

const dataFolder = useDataFolder();

/** Logs are written asynchronously, so a log line can appear after "ready" on the console. */
const waitUntilLogged = (child: Child, line: string) =>
  waitUntil(`the output contains "${line}"`, () => child.output().includes(line));

/** Returns the process ID of the database, or NaN if no database has started. */
const readPostgresPid = async (): Promise<number> => {
  const file = join(dataFolder.dataDir, "postgres/data/postmaster.pid");
  return Number((await readFile(file, "utf8").catch(() => "none")).split("\n")[0]);
};

describe("the all-in-one", () => {
  test("refuses to start with another key when the sealing key of webhook secrets is missing", async () => {
    const env = { WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:9" };
    const first = await dataFolder.startAndWait(env);
    const merchant = await createMerchant(dataFolder, "alice");
    await registerEndpoint(dataFolder, merchant, "https://receiver.test/hook");
    expect(await first.terminate("SIGTERM")).toBe(0);
    await rm(join(dataFolder.dataDir, "secret.key"));

    const second = dataFolder.start(env);
    await waitUntil("the process exits", () => {
      if (second.output().includes("Payment Links is ready"))
        throw new Error("the all-in-one started");
      return !second.isRunning();
    });
    expect(second.output()).toContain(
      "WEBHOOK_SECRET_KEYS: stored secrets are encrypted with keys that are not listed here, add them: local-",
    );
    expect(await second.terminate("SIGTERM")).toBe(2);
  });

  test("starts without the demo, and says so, when sign-in links are disabled", async () => {
    const child = await dataFolder.startAndWait({ SIGN_IN_METHODS: "siwe" });
    await waitUntilLogged(child, "could not create the demo account");
    expect(child.output()).not.toContain('Demo account "demo"');
  });

  test("creates the demo at the address on which it listens", async () => {
    const child = await dataFolder.startAndWait({ HOST: "127.0.0.2" });
    expect(child.output()).toContain('Demo account "demo": sign in once');
    expect(child.output()).toContain(
      `Payment Links is ready at http://127.0.0.2:${dataFolder.port}`,
    );
  });

  test("warns about insecure session cookies at every start", async () => {
    const insecureEnv = { BASE_URL: "http://shop.example.com", ALLOW_INSECURE_COOKIE: "1" };
    const child = await dataFolder.startAndWait({ NODE_ENV: "production", ...insecureEnv });
    await waitUntilLogged(child, "ALLOW_INSECURE_COOKIE is set: sessions can be stolen");
  });

  test("waits for DRAIN_DELAY_SECONDS on SIGTERM, then exits in order", async () => {
    const child = await dataFolder.startAndWait({ DRAIN_DELAY_SECONDS: "26" });
    expect(await child.terminate("SIGTERM")).toBe(0);
  });

  test("leaves no database process when stopped while its database starts", async () => {
    const child = dataFolder.start();
    await waitUntil("the database process has started", async () => (await readPostgresPid()) > 0);
    const pid = await readPostgresPid();
    expect(await child.terminate("SIGTERM")).toBe(0);
    expect(() => process.kill(pid, "SIGQUIT")).toThrow("ESRCH");
    expect(child.output()).not.toContain("could not start");
  });

  test("exits when its database exits by itself, so that a supervisor can restart it", async () => {
    const child = await dataFolder.startAndWait();
    process.kill(await readPostgresPid(), "SIGKILL");
    await waitUntil("the process exits", () => !child.isRunning());
    expect(child.output()).toContain("PostgreSQL exited unexpectedly");
    expect(await child.terminate("SIGTERM")).toBe(1);
    await dataFolder.startAndWait();
  });

  test("starts the demo without a wallet, and says so, when the catalogue has none of its tokens", async () => {
    // This file is outside the data folder, because the demo is only created in an empty data
    // folder.
    const file = `${dataFolder.dataDir}.json`;
    await writeFile(file, JSON.stringify(singleTokenCatalogue));
    const child = await dataFolder.startAndWait({ CATALOGUE_FILE: file });
    await rm(file);
    expect(child.output()).toContain('Demo account "demo" has no wallet');
    expect(child.output()).toContain('Demo account "demo": sign in once');
  });
});
