import { createServer } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { call, createMerchant } from "./rig/client.ts";
import { useDataFolder } from "./rig/use-data-folder.ts";

const dataFolder = useDataFolder();

describe("the all-in-one", () => {
  test.each(["SIGTERM", "SIGKILL"] as const)(
    "after %s and a start on the same folder, nothing is lost (rules KEEP-8 and OPS-8)",
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

  test("with NODE_ENV=production there is no demo, and no development chain (rule OPS-8)", async () => {
    const child = await dataFolder.startAndWait({ NODE_ENV: "production" }, []);
    expect(child.output()).not.toMatch(/demo|devnet|local /i);
    const notice = await call(`${dataFolder.baseUrl}/settlement-notices/demo`, {
      method: "POST",
      body: {},
    });
    expect(notice.status).toBe(404);
  });

  test("given an option that it does not know, it ends with code 2 and tells those that it does", async () => {
    const child = dataFolder.start({}, ["--devnet"]);
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain("usage: npm start [-- --no-devnet]");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });

  test("given a HOST for other machines and no BASE_URL, it ends with code 2 and says what to set (rule CALLER-39)", async () => {
    const child = dataFolder.start({ HOST: "0.0.0.0" }, []);
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain("BASE_URL: is not set, or is plain http on a loopback host");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });

  // Two chains of one id would be taken for two providers of one, which never agree.
  test.each([
    ["EVM_RPC_URLS", "31337", "Local devnet", "local-evm"],
    ["RPC_URLS", "local-tron", "Local Tron", "local-tron"],
  ])(
    "given its own chain in %s beside a local one of its id, it says which may go",
    async (variable, chainId, title, name) => {
      const child = dataFolder.start({ [variable]: `${chainId}=http://key.test/` }, []);
      await waitUntil("its end", () => !child.isRunning());
      expect(child.output()).toContain(
        `${variable}: names chain ${chainId}, which is the ${title} that is started here; ` +
          `take it out, or leave ${name} out of DEVNET_CHAINS, or start with --no-devnet`,
      );
      expect(child.output()).not.toContain("key.test");
      expect(await child.terminate("SIGTERM")).toBe(2);
    },
  );

  test("given a taken port, it says so and ends with code 2", async () => {
    const portHolder = createServer();
    await new Promise<void>((resolve) => portHolder.listen(dataFolder.port, "127.0.0.1", resolve));
    const child = dataFolder.start();
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain(`Port ${dataFolder.port} on 127.0.0.1 is taken`);
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
      "DEVNET_CHAINS: takes local-evm, local-solana, local-tron, local-bitcoin, with commas between them",
    ],
    [
      { NODE_ENV: "production", WEBHOOK_HOST_OVERRIDES: "receiver.test=http://127.0.0.1:9000" },
      "WEBHOOK_HOST_OVERRIDES",
    ],
  ])("given %j, it refuses to start and names %s (rule CALLER-8)", async (env, name) => {
    const child = dataFolder.start(env);
    await waitUntil("its end", () => !child.isRunning());
    expect(child.output()).toContain(name);
    // Its log is opened first, and must not stumble over it.
    expect(child.output()).not.toContain("verbose");
    expect(await child.terminate("SIGTERM")).toBe(2);
  });
});
