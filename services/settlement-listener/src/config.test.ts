import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ConfigError, readConfig } from "@payment-links/runtime";
import { settlementListenerConfig } from "./config.ts";

const secret = `whsec_${Buffer.from("s".repeat(32)).toString("base64")}`;

const inFile = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "secrets");
  writeFileSync(file, text);
  return file;
};

const faultOf = (environment: Record<string, string>): string => {
  try {
    readConfig(settlementListenerConfig, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration was accepted");
};

describe("settlementListenerConfig", () => {
  test("without a variable there are no providers", () => {
    expect(readConfig(settlementListenerConfig, {}).providers.size).toBe(0);
    const empty = { SETTLEMENT_PROVIDER_SECRETS: "" };
    expect(readConfig(settlementListenerConfig, empty).providers.size).toBe(0);
  });

  test.each([
    { SETTLEMENT_PROVIDER_SECRETS: `acme=${secret}` },
    { SETTLEMENT_PROVIDER_SECRETS_FILE: inFile(`acme=${secret}\n`) },
  ])("reads the variable, or the file that its twin names", (environment) => {
    const { providers } = readConfig(settlementListenerConfig, environment);
    expect([...providers.keys()]).toEqual(["acme"]);
  });

  test("a malformed value is told by the variable's name and never repeated", () => {
    const fault = faultOf({ SETTLEMENT_PROVIDER_SECRETS: `acme=${secret},${secret}` });
    expect(fault).toContain("SETTLEMENT_PROVIDER_SECRETS: entry 2 of 2");
    expect(fault).not.toContain(secret.slice(6, 20));
  });

  test("a file that cannot be read is told by the variable's name", () => {
    const fault = faultOf({ SETTLEMENT_PROVIDER_SECRETS_FILE: "/nowhere/secrets" });
    expect(fault).toContain("SETTLEMENT_PROVIDER_SECRETS_FILE: names a file");
  });

  test("without a variable no chain is watched", () => {
    const { rpcUrls, chainOverrides } = readConfig(settlementListenerConfig, {});
    expect([rpcUrls.size, chainOverrides]).toEqual([0, {}]);
  });

  test.each([
    { EVM_RPC_URLS: "8453=https://a.example/key" },
    { EVM_RPC_URLS_FILE: inFile("8453=https://a.example/key\n") },
  ])("reads the chains' providers, or the file that the twin names", (environment) => {
    const { rpcUrls } = readConfig(settlementListenerConfig, environment);
    expect([...rpcUrls]).toEqual([["8453", ["https://a.example/key"]]]);
  });

  test("a malformed provider is told by its place, and never repeated", () => {
    const fault = faultOf({ EVM_RPC_URLS: "8453=https://a.example/key,ftp://b.example/key" });
    expect(fault).toContain("EVM_RPC_URLS: entry 2 of 2 is not <chain id>=<url>");
    expect(fault).not.toContain("key");
  });

  test("reads what an operator sets for a chain", () => {
    const settings = { finality: { blocks: 12 }, headLagBlocks: 0, rangeBlocksMax: 5, pollMs: 50 };
    const file = inFile(JSON.stringify({ "1": settings, "10": { finality: "safe" } }));
    const { chainOverrides } = readConfig(settlementListenerConfig, { EVM_CHAINS_FILE: file });
    expect(chainOverrides).toEqual({ "1": settings, "10": { finality: "safe" } });
  });

  test.each([
    ["{", "cannot be read as JSON"],
    ['{"base":{}}', "base"],
    ['{"1":{"finality":"soon"}}', "finality"],
    ['{"1":{"pollms":1}}', "pollms"],
    ['{"1":{"rangeBlocksMax":0}}', "rangeBlocksMax"],
  ])("refuses the chains' file %s with a word on what is wrong", (text, word) => {
    const fault = faultOf({ EVM_CHAINS_FILE: inFile(text) });
    expect(fault).toContain("EVM_CHAINS_FILE");
    expect(fault).toContain(word);
  });
});
