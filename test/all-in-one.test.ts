import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { CatalogueData } from "@payment-links/contracts";
import { type Child, startChild, waitReady } from "./rig/child.ts";
import { call, openMerchant } from "./rig/client.ts";
import { findFreePorts } from "./rig/free-port.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const catalogueOfOneToken: CatalogueData = {
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

describe("the all-in-one", () => {
  let dataDir: string;
  let port: number;
  let internalPort: number;
  let children: Child[];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "payment-links-"));
    await chmod(dataDir, 0o755);
    [port = 0, internalPort = 0] = await findFreePorts(2);
    children = [];
  });

  afterEach(async () => {
    await Promise.all(children.map((child) => child.end("SIGTERM")));
    await rm(dataDir, { recursive: true, force: true });
  });

  const withoutDevnet = ["--no-devnet"];

  const start = (env: Record<string, string> = {}, args = withoutDevnet): Child => {
    const common = {
      DATA_DIR: dataDir,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      LOG_LEVEL: "warn",
    };
    const child = startChild("deploy/src/main.ts", { ...common, ...env }, args);
    children.push(child);
    return child;
  };

  const startAndWait = async (
    env: Record<string, string> = {},
    args = withoutDevnet,
  ): Promise<Child> => {
    const child = start(env, args);
    await waitReady(child, internalPort);
    await waitUntil("its word", () => {
      if (!child.isRunning()) throw new Error(child.output());
      return child.output().includes("Payment Links is ready");
    });
    return child;
  };

  /** The log is written behind what is said to a person, so a line of it may come after "ready". */
  const waitLogged = (child: Child, line: string) =>
    waitUntil(`it logs "${line}"`, () => child.output().includes(line));

  /** NaN where none is launched. */
  const readPostgresPid = async (): Promise<number> => {
    const file = join(dataDir, "postgres/data/postmaster.pid");
    return Number((await readFile(file, "utf8").catch(() => "none")).split("\n")[0]);
  };

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "after %s and a start on the same folder, nothing is lost",
    async (signal) => {
      const first = await startAndWait();
      const baseUrl = `http://127.0.0.1:${port}`;
      const internalUrl = `http://127.0.0.1:${internalPort}`;
      const merchant = await openMerchant({ baseUrl, internalUrl }, "alice");
      const created = await call(`${baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body: { toAmount: "12.34" },
      });
      expect(created.status).toBe(200);
      expect(first.output()).toContain('Demo account "demo"');
      expect(await first.end(signal)).toBe(signal === "SIGTERM" ? 0 : null);

      const second = await startAndWait();
      const list = await call(`${baseUrl}/v1/payment-link`, {
        headers: { "x-api-key": merchant.apiKey },
      });
      expect(list.body["data"]).toMatchObject([{ id: created.body["id"], toAmount: "12.34" }]);
      const account = await call(`${baseUrl}/console/api/account`, {
        headers: { cookie: merchant.cookie },
      });
      expect(account.body["handle"]).toBe("alice");
      expect(second.output()).not.toContain("Demo account");
    },
  );

  test("without the key that webhook secrets are sealed under, it does not start with another", async () => {
    const env = { WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:9" };
    const first = await startAndWait(env);
    const system = {
      baseUrl: `http://127.0.0.1:${port}`,
      internalUrl: `http://127.0.0.1:${internalPort}`,
    };
    const merchant = await openMerchant(system, "alice");
    await registerEndpoint(system, merchant, "https://receiver.test/hook");
    expect(await first.end("SIGTERM")).toBe(0);
    await rm(join(dataDir, "secret.key"));

    const second = start(env);
    await waitUntil("its end", () => {
      if (second.output().includes("Payment Links is ready")) throw new Error("it has started");
      return !second.isRunning();
    });
    expect(second.output()).toContain("WEBHOOK_SECRET_KEYS: secrets are sealed under local-");
    expect(await second.end("SIGTERM")).toBe(2);
  });

  test("where the demo's sign-in link is no way in, it starts without a demo, and says so", async () => {
    const child = await startAndWait({ SIGN_IN_METHODS: "siwe" });
    await waitLogged(child, "the demo account could not be made");
    expect(child.output()).not.toContain('Demo account "demo"');
  });

  test("it makes the demo at the address on which it listens", async () => {
    const child = await startAndWait({ HOST: "127.0.0.2" });
    expect(child.output()).toContain('Demo account "demo": sign in once');
    expect(child.output()).toContain(`Payment Links is ready at http://127.0.0.2:${port}`);
  });

  test("at every start it warns of sessions that can be stolen", async () => {
    const insecure = { BASE_URL: "http://shop.example.com", ALLOW_INSECURE_COOKIE: "1" };
    const child = await startAndWait({ NODE_ENV: "production", ...insecure });
    await waitLogged(child, "ALLOW_INSECURE_COOKIE is set: sessions can be stolen");
  });

  test("told to stop, it takes the time that DRAIN_DELAY_SECONDS gives callers, and ends in order", async () => {
    const child = await startAndWait({ DRAIN_DELAY_SECONDS: "26" });
    expect(await child.end("SIGTERM")).toBe(0);
  });

  test("told to stop while its database starts, it leaves none behind", async () => {
    const child = start();
    await waitUntil("the database is launched", async () => (await readPostgresPid()) > 0);
    const pid = await readPostgresPid();
    expect(await child.end("SIGTERM")).toBe(0);
    expect(() => process.kill(pid, "SIGQUIT")).toThrow("ESRCH");
    expect(child.output()).not.toContain("could not start");
  });

  test("it ends, for whoever starts it again, when its database has ended by itself", async () => {
    const child = await startAndWait();
    process.kill(await readPostgresPid(), "SIGKILL");
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain("PostgreSQL ended by itself");
    expect(await child.end("SIGTERM")).toBe(1);
    await startAndWait();
  });

  test("with a catalogue that has none of the demo's tokens, the demo has no wallet, and says so", async () => {
    // Beside the folder: one that holds anything already is not made anew, with a demo.
    const file = `${dataDir}.json`;
    await writeFile(file, JSON.stringify(catalogueOfOneToken));
    const child = await startAndWait({ CATALOGUE_FILE: file });
    await rm(file);
    expect(child.output()).toContain('Demo account "demo" has no wallet');
    expect(child.output()).toContain('Demo account "demo": sign in once');
  });

  test("with NODE_ENV=production there is no demo, and no development chain", async () => {
    const child = await startAndWait({ NODE_ENV: "production" }, []);
    expect(child.output()).not.toMatch(/demo|devnet|local /i);
    const notice = await call(`http://127.0.0.1:${port}/settlement-notices/demo`, {
      method: "POST",
      body: {},
    });
    expect(notice.status).toBe(404);
  });

  test("given an option that it does not know, it ends with code 2 and tells those that it does", async () => {
    const child = start({}, ["--devnet"]);
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain("usage: npm start [-- --no-devnet]");
    expect(await child.end("SIGTERM")).toBe(2);
  });

  // Two chains of one id would be taken for two providers of one, which never agree.
  test.each([
    ["EVM_RPC_URLS", "31337", "Local devnet", "local-evm"],
    ["RPC_URLS", "local-tron", "Local Tron", "local-tron"],
  ])(
    "given its own chain in %s beside a local one of its id, it says which may go",
    async (variable, chainId, title, name) => {
      const child = start({ [variable]: `${chainId}=http://key.test/` }, []);
      await waitUntil("its end", () => !child.isRunning());
      expect(child.output()).toContain(
        `${variable}: names chain ${chainId}, which is the ${title} that is started here; ` +
          `take it out, or leave ${name} out of DEVNET_CHAINS, or start with --no-devnet`,
      );
      expect(child.output()).not.toContain("key.test");
      expect(await child.end("SIGTERM")).toBe(2);
    },
  );

  test("given a taken port, it says so and ends with code 2", async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(port, "127.0.0.1", resolve));
    const child = start();
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(await child.end("SIGTERM")).toBe(2);
    await new Promise((resolve) => holder.close(resolve));
  });

  test.each([
    [{ INTERNAL_HOST: "0.0.0.0", OPERATOR_TOKEN: "sixteen-characters" }, "INTERNAL_TOKEN"],
    [{ INTERNAL_HOST: "0.0.0.0", INTERNAL_TOKEN: "sixteen-characters" }, "OPERATOR_TOKEN"],
    [{ BASE_URL: "http://shop.example.com" }, "ALLOW_INSECURE_COOKIE"],
    [{ RATE_LIMIT_PER_KEY: "fast" }, "RATE_LIMIT_PER_KEY"],
    [{ LOG_LEVEL: "verbose" }, "LOG_LEVEL"],
    [
      { DEVNET_CHAINS: "local-evm,local-doge" },
      "DEVNET_CHAINS: takes local-evm, local-solana, local-tron, local-bitcoin, with commas between them",
    ],
    [
      { NODE_ENV: "production", WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:9000" },
      "WEBHOOK_HOST_OVERRIDES",
    ],
  ])("given %j, it refuses to start and names %s", async (env, name) => {
    const child = start(env);
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain(name);
    // Its log is opened first, and must not stumble over it.
    expect(child.output()).not.toContain("verbose");
    expect(await child.end("SIGTERM")).toBe(2);
  });
});
