import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { settlementListenerConfig } from "./config.ts";

const secret = `whsec_${Buffer.from("s".repeat(32)).toString("base64")}`;

const writeTempFile = (text: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "secrets");
  writeFileSync(path, text);
  return path;
};

const getConfigError = (environment: Record<string, string>): string => {
  try {
    parseConfig(settlementListenerConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

describe("settlementListenerConfig", () => {
  test("has no providers without the variable", () => {
    expect(parseConfig(settlementListenerConfig, {}).providers.size).toBe(0);
    const empty = { SETTLEMENT_PROVIDER_SECRETS: "" };
    expect(parseConfig(settlementListenerConfig, empty).providers.size).toBe(0);
  });

  test.each([
    { SETTLEMENT_PROVIDER_SECRETS: `acme=${secret}` },
    { SETTLEMENT_PROVIDER_SECRETS_FILE: writeTempFile(`acme=${secret}\n`) },
  ])("reads the variable or the file that its _FILE variant names", (environment) => {
    const { providers } = parseConfig(settlementListenerConfig, environment);
    expect([...providers.keys()]).toEqual(["acme"]);
  });

  test("reports a malformed value with the variable's name and without the value", () => {
    const message = getConfigError({ SETTLEMENT_PROVIDER_SECRETS: `acme=${secret},${secret}` });
    expect(message).toContain("SETTLEMENT_PROVIDER_SECRETS: entry 2 of 2");
    expect(message).not.toContain(secret.slice(6, 20));
  });

  test("reports an unreadable file with the variable's name", () => {
    const message = getConfigError({ SETTLEMENT_PROVIDER_SECRETS_FILE: "/nowhere/secrets" });
    expect(message).toContain("SETTLEMENT_PROVIDER_SECRETS_FILE: the file cannot be read");
  });

  test("watches no chain without the variable (rule CHAIN-9)", () => {
    const { rpcUrls, chainOverrides } = parseConfig(settlementListenerConfig, {});
    expect([rpcUrls.size, chainOverrides]).toEqual([0, {}]);
  });

  test.each([
    { EVM_RPC_URLS: "8453=https://a.example/key" },
    { EVM_RPC_URLS_FILE: writeTempFile("8453=https://a.example/key\n") },
    { RPC_URLS: "8453=https://a.example/key" },
    { RPC_URLS_FILE: writeTempFile("8453=https://a.example/key\n") },
  ])(
    "reads the chains' providers from the variable or from the file that its _FILE variant names",
    (environment) => {
      const { rpcUrls } = parseConfig(settlementListenerConfig, environment);
      expect([...rpcUrls]).toEqual([["8453", ["https://a.example/key"]]]);
    },
  );

  test("reports a malformed provider by its position and without its value", () => {
    const message = getConfigError({
      EVM_RPC_URLS: "8453=https://a.example/key,ftp://b.example/key",
    });
    expect(message).toContain("EVM_RPC_URLS: entry 2 of 2 is not <chain id>=<url>");
    expect(message).not.toContain("key");
  });

  test("accepts the former names next to the new ones, for different chains", () => {
    const { rpcUrls } = parseConfig(settlementListenerConfig, {
      RPC_URLS: "tron=https://t.example",
      EVM_RPC_URLS: "1=https://a.example",
    });
    expect([...rpcUrls.keys()]).toEqual(["tron", "1"]);
    const duplicateUrls = {
      RPC_URLS: "1=https://a.example/key",
      EVM_RPC_URLS: "1=https://b.example/key",
    };
    expect(getConfigError(duplicateUrls)).toContain(
      "EVM_RPC_URLS: names chain 1, which RPC_URLS also names",
    );
    expect(
      getConfigError({ CHAINS_FILE: writeTempFile("{}"), EVM_CHAINS_FILE: writeTempFile("{}") }),
    ).toContain("EVM_CHAINS_FILE: is set in addition to CHAINS_FILE");
  });

  test("reads an operator's settings for a chain", () => {
    const settings = { finality: { blocks: 12 }, headLagBlocks: 0, rangeBlocksMax: 5, pollMs: 50 };
    const chainsFile = writeTempFile(JSON.stringify({ "1": settings, "10": { finality: "safe" } }));
    const { chainOverrides } = parseConfig(settlementListenerConfig, {
      EVM_CHAINS_FILE: chainsFile,
    });
    expect(chainOverrides).toEqual({ "1": settings, "10": { finality: "safe" } });
  });

  test("rejects one provider in two spellings without its URL, unless its host is declared (rule CHAIN-31)", () => {
    const RPC_URLS = "1=https://rpc.example/key-1,1=https://RPC.example:443/key-2";
    const message = getConfigError({ RPC_URLS });
    expect(message).toContain("RPC_URLS: entry 2 of 2 has the host of entry 1");
    expect(message).not.toMatch(/rpc\.example|key-/i);
    const config = parseConfig(settlementListenerConfig, {
      RPC_URLS,
      INDEPENDENT_RPC_HOSTS: "rpc.example",
    });
    expect(config.rpcUrls.get("1")).toHaveLength(2);
    expect(getConfigError({ RPC_URLS, INDEPENDENT_RPC_HOSTS: "https://rpc.example" })).toContain(
      "INDEPENDENT_RPC_HOSTS: entry 1 of 1 is not a host name",
    );
  });

  test("reads plain transfers on the chains of TRANSFER_CHAINS, whatever other settings they have", () => {
    const chainsFile = writeTempFile(
      JSON.stringify({ "1": { pollMs: 50 }, "137": { pollMs: 60 } }),
    );
    const { chainOverrides } = parseConfig(settlementListenerConfig, {
      RPC_URLS: "1=https://a.example,10=https://b.example,137=https://c.example",
      CHAINS_FILE: chainsFile,
      TRANSFER_CHAINS: "1, 10",
    });
    expect(chainOverrides).toEqual({
      "1": { pollMs: 50, findsDeposits: true },
      "10": { findsDeposits: true },
      "137": { pollMs: 60 },
    });
  });

  // Guards against lost payments: links-api offers payers plain transfers on these chains, so the
  // listener must detect them.
  test("rejects a chain of TRANSFER_CHAINS that is not watched, or whose transfers are disabled", () => {
    expect(getConfigError({ TRANSFER_CHAINS: "1" })).toContain(
      "TRANSFER_CHAINS: names chain 1, which RPC_URLS does not name",
    );
    const message = getConfigError({
      RPC_URLS: "1=https://a.example",
      CHAINS_FILE: writeTempFile('{"1":{"findsDeposits":false}}'),
      TRANSFER_CHAINS: "1",
    });
    expect(message).toContain("CHAINS_FILE: turns findsDeposits off on chain 1");
  });

  const withChainSettings = (settings: object) => ({
    CHAINS_FILE: writeTempFile(JSON.stringify({ "1": settings })),
  });
  const createAmountTiers = (count: number) =>
    Array.from({ length: count }, () => ({ from: "1", blocks: 1 }));

  test.each([
    ["finality", { blocks: 0 }, { blocks: 100_000 }, [{ blocks: -1 }, { blocks: 100_001 }]],
    ["headLagBlocks", 0, 10_000, [-1, 10_001]],
    ["finalDepthBlocks", 0, 100_000, [-1, 100_001]],
    ["rangeBlocksMax", 1, 100_000, [0, 100_001]],
    ["pollMs", 50, 600_000, [49, 600_001]],
    ["auditBlocksMin", 1, 100_000, [0, 100_001]],
    [
      "finalityByAmount",
      [],
      createAmountTiers(20),
      [createAmountTiers(21), [{ from: "1", blocks: -1 }]],
    ],
    ["isDisposable", false, true, ["true"]],
    ["findsDeposits", false, true, [1]],
    ["depositMinimums", {}, { "0xToken": "0.5" }, [{ "0xToken": "much" }]],
  ])(
    "accepts %s of a chain from %j to %j, and nothing outside",
    (name, minimum, maximum, outOfRange) => {
      for (const value of [minimum, maximum]) {
        const { chainOverrides } = parseConfig(
          settlementListenerConfig,
          withChainSettings({ [name]: value }),
        );
        expect(JSON.parse(JSON.stringify(chainOverrides["1"]))).toEqual({ [name]: value });
      }
      for (const value of outOfRange)
        expect(getConfigError(withChainSettings({ [name]: value }))).toContain(name);
    },
  );

  test.each([
    ["{", "cannot be read as JSON"],
    ['{"01":{}}', "01"],
    ['{"1":{"finality":"soon"}}', "finality"],
    ['{"1":{"pollms":1}}', "pollms"],
    ['{"1":{"rangeBlocksMax":0}}', "rangeBlocksMax"],
  ])("rejects the chains file %s with a message about the error", (text, expectedText) => {
    const message = getConfigError({ EVM_CHAINS_FILE: writeTempFile(text) });
    expect(message).toContain("EVM_CHAINS_FILE");
    expect(message).toContain(expectedText);
  });
});
