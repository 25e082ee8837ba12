import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { type Wallet, findDefaultWallet } from "./account.ts";
import { getChainMode, isTestModeAvailable, loadCatalogue } from "./catalogue.ts";
import { accountUpdated, linkCreated } from "./events.ts";
import { IntrospectionResponse } from "./introspection.ts";
import { pickLinkTexts } from "./link-texts.ts";
import { createSampleAccount } from "./testing/sample-account.ts";

const createWallet = (id: string, mode?: "live" | "test"): Wallet => ({
  id,
  walletAddress: "0x1",
  tokenId: "usdc-base",
  chainType: "EVM",
  isDefault: true,
  isChainDefault: true,
  provider: null,
  ...(mode === undefined ? {} : { mode }),
});

describe("findDefaultWallet", () => {
  test("returns the default of the mode; a wallet without a mode is live (rule MODE-3)", () => {
    const wallets = [createWallet("wallet_old"), createWallet("wallet_test", "test")];
    const account = createSampleAccount({ wallets });
    expect(findDefaultWallet(account, "live")?.id).toBe("wallet_old");
    expect(findDefaultWallet(account, "test")?.id).toBe("wallet_test");
    const testOnly = createSampleAccount({ wallets: [createWallet("wallet_test", "test")] });
    expect(findDefaultWallet(testOnly, "live")).toBeUndefined();
  });
});

describe("records of earlier releases", () => {
  test("have no mode and stay readable (rules MODE-5 and EVENT-4)", () => {
    const account = createSampleAccount({ wallets: [createWallet("wallet_old")] });
    const accountRecord = z.encode(accountUpdated.data, account);
    expect(JSON.stringify(accountRecord)).not.toContain("mode");
    expect(z.decode(accountUpdated.data, accountRecord)).toEqual(account);
    const link = {
      id: "plink_1",
      version: 1,
      userId: account.id,
      status: "active",
      toAmount: "25",
      receivedAmount: "0",
      currentUsage: 0,
      maxUsage: null,
      ...pickLinkTexts({}),
      expirationDate: null,
      destinationAddress: "0x1",
      chainId: "8453",
      tokenAddress: "0x2",
      paymentReference: "0123456789abcdef0123456789abcdef",
      dateCreated: "2026-11-21T10:00:00.000Z",
    };
    expect(linkCreated.data.parse({ link }).link.mode).toBeUndefined();
    expect(linkCreated.data.parse({ link: { ...link, mode: "test" } }).link.mode).toBe("test");
    const credential = { id: "key_1", bucketId: "key_1", scopes: [], expiresAt: null };
    const response = { found: true, account: accountRecord, credential };
    expect(IntrospectionResponse.parse(response)).toMatchObject({ found: true });
  });
});

describe("the catalogue", () => {
  test("decides the mode of a chain, and whether test mode exists (rule MODE-4)", () => {
    const catalogue = loadCatalogue();
    const findChain = (id: string) => {
      const chain = catalogue.chains.find((candidate) => candidate.id === id);
      if (chain === undefined) throw new Error(`no chain ${id}`);
      return chain;
    };
    expect(getChainMode(findChain("8453"))).toBe("live");
    expect(getChainMode(findChain("84532"))).toBe("test");
    expect(isTestModeAvailable(catalogue)).toBe(true);
    const tokens = catalogue.tokens.filter(({ chain }) => getChainMode(chain) === "live");
    expect(isTestModeAvailable({ tokens })).toBe(false);
  });
});
