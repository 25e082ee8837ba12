import { createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { call, createMerchant } from "./rig/client.ts";
import { useDataFolder } from "./rig/use-data-folder.ts";

const dataFolder = useDataFolder();

describe("the all-in-one", () => {
  test.each(["SIGTERM", "SIGKILL"] as const)(
    "loses nothing when stopped by %s and started again on the same folder (rules KEEP-8 and OPS-8)",
    async (signal) => {
      const first = await dataFolder.startAndWait();
      const { baseUrl } = dataFolder;
      const merchant = await createMerchant(dataFolder, "alice");
      const created = await call(`${baseUrl}/v1/payment-link`, {
        method: "POST",
        headers: { "x-api-key": merchant.apiKey },
        body: { toAmount: "12.34" },
      });
      expect(created.status).toBe(200);
      expect(first.output()).toContain('Demo account "demo"');
      expect(await first.terminate(signal)).toBe(signal === "SIGTERM" ? 0 : null);

      const second = await dataFolder.startAndWait();
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

  test("starts no demo and no development chain with NODE_ENV=production (rule OPS-8)", async () => {
    const child = await dataFolder.startAndWait({ NODE_ENV: "production" }, []);
    expect(child.output()).not.toMatch(/demo|devnet|local /i);
    const notice = await call(`${dataFolder.baseUrl}/settlement-notices/demo`, {
      method: "POST",
      body: {},
    });
    expect(notice.status).toBe(404);
  });

  test("exits with code 2 and lists the known options when given an unknown option", async () => {
    const child = dataFolder.start({}, ["--devnet"]);
    await waitUntil("the process exits", () => !child.isRunning());
    expect(child.output()).toContain("usage: npm start [-- --no-devnet]");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });

  test("exits with code 2 and names the missing variable when HOST is set without BASE_URL (rule CALLER-39)", async () => {
    const child = dataFolder.start({ HOST: "0.0.0.0" }, []);
    await waitUntil("the process exits", () => !child.isRunning());
    expect(child.output()).toContain("BASE_URL: is not set, or is plain http on a loopback host");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });

  // Two chains with the same ID would be treated as two providers of one chain. These providers
  // would never agree.
  test.each([
    ["EVM_RPC_URLS", "31337", "Local devnet", "local-evm"],
    ["RPC_URLS", "local-tron", "Local Tron", "local-tron"],
  ])(
    "says which chain to remove when %s names a chain with the id of a local one",
    async (variable, chainId, title, name) => {
      const child = dataFolder.start({ [variable]: `${chainId}=http://key.test/` }, []);
      await waitUntil("the process exits", () => !child.isRunning());
      expect(child.output()).toContain(
        `${variable}: contains chain ${chainId}, which is the ${title} that npm start runs; ` +
          `remove it, or remove ${name} from DEVNET_CHAINS, or start with --no-devnet`,
      );
      expect(child.output()).not.toContain("key.test");
      expect(await child.terminate("SIGTERM")).toBe(2);
    },
  );

  test("exits with code 2 and says so when the port is in use", async () => {
    const portHolder = createServer();
    await new Promise<void>((resolve) => portHolder.listen(dataFolder.port, "127.0.0.1", resolve));
    const child = dataFolder.start();
    await waitUntil("the process exits", () => !child.isRunning());
    expect(child.output()).toContain(`Port ${dataFolder.port} on 127.0.0.1 is in use`);
    expect(await child.terminate("SIGTERM")).toBe(2);
    await new Promise((resolve) => portHolder.close(resolve));
  });

  test.each([
    [{ INTERNAL_HOST: "0.0.0.0", OPERATOR_TOKEN: "sixteen-characters" }, "INTERNAL_TOKEN"],
    [{ INTERNAL_HOST: "0.0.0.0", INTERNAL_TOKEN: "sixteen-characters" }, "OPERATOR_TOKEN"],
    [{ BASE_URL: "http://shop.example.com" }, "ALLOW_INSECURE_COOKIE"],
    [{ RATE_LIMIT_PER_KEY: "fast" }, "RATE_LIMIT_PER_KEY"],
    [{ LOG_LEVEL: "verbose" }, "LOG_LEVEL"],
    [
      { DEVNET_CHAINS: "local-evm,local-doge" },
      "DEVNET_CHAINS: must be a comma-separated list of local-evm, local-solana, local-tron, local-bitcoin",
    ],
    [
      { NODE_ENV: "production", WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:9000" },
      "WEBHOOK_HOST_OVERRIDES",
    ],
  ])("with %j, refuses to start and names %s (rule CALLER-8)", async (env, name) => {
    const child = dataFolder.start(env);
    await waitUntil("the process exits", () => !child.isRunning());
    expect(child.output()).toContain(name);
    // The logger is created before the settings are validated, so it must accept an invalid level.
    expect(child.output()).not.toContain("verbose");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });
});
