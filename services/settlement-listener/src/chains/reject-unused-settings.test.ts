import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { loadCatalogue } from "@payment-links/contracts";
import { ConfigError, parseConfig } from "@payment-links/runtime";
import { settlementListenerConfig } from "../config.ts";
import { rejectUnusedSettings } from "./reject-unused-settings.ts";

const watchedChainIds = ["8453", "tron", "solana", "bitcoin"];

const collectFaults = (settings: object, transferChains = ""): readonly string[] => {
  const file = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "chains.json");
  writeFileSync(file, JSON.stringify(settings));
  const config = parseConfig(settlementListenerConfig, {
    RPC_URLS: watchedChainIds.map((id) => `${id}=https://rpc.example`).join(","),
    CHAINS_FILE: file,
    TRANSFER_CHAINS: transferChains,
  });
  try {
    rejectUnusedSettings(loadCatalogue(), config);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n").slice(1);
    throw error;
  }
  return [];
};

describe("rejectUnusedSettings", () => {
  test("accepts settings that their chains support", () => {
    const deposits = { findsDeposits: true };
    const settings = {
      "8453": deposits,
      tron: deposits,
      solana: deposits,
      bitcoin: { findsDeposits: false, depositMinimums: {}, finalityByAmount: [] },
    };
    expect(collectFaults(settings, "8453")).toEqual([]);
  });

  test.each(["tron", "solana", "bitcoin"])(
    "rejects %s in TRANSFER_CHAINS, because suffixes exist only on EVM chains",
    (id) => {
      expect(collectFaults({}, `8453,${id}`)).toEqual([
        `  TRANSFER_CHAINS: ${id} is not an EVM chain in the catalogue`,
      ]);
    },
  );

  test("lists all faults in one error", () => {
    const settings = {
      bitcoin: { findsDeposits: true, depositMinimums: { BTC: "0.1" } },
      solana: { finalityByAmount: [{ from: "1", blocks: 2 }] },
    };
    expect(collectFaults(settings, "tron")).toEqual([
      "  TRANSFER_CHAINS: tron is not an EVM chain in the catalogue",
      expect.stringContaining("CHAINS_FILE: turns on findsDeposits for chain bitcoin"),
      expect.stringContaining("CHAINS_FILE: sets depositMinimums for chain bitcoin"),
      expect.stringContaining("CHAINS_FILE: sets finalityByAmount for chain solana"),
    ]);
  });
});
