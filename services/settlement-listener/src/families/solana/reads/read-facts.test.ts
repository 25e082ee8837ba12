import { describe, expect, test } from "@jest/globals";
import { freshAddress, openSolanaChain } from "../../../testing/solana/open-solana-chain.ts";
import { createCatalogue } from "@payment-links/contracts";
import { solanaChainOf } from "../solana-chain.ts";
import { createReadFacts } from "./read-facts.ts";

describe("reading what payers' transactions are made of", () => {
  test("eight are answered at once: a ninth is refused, and does not reach a node", async () => {
    const { catalogueData, close, tokens } = await openSolanaChain();
    await close();
    const catalogue = createCatalogue(catalogueData);
    const [chain] = catalogue.chains.map((one) => solanaChainOf(catalogue, one));
    if (chain === undefined) throw new Error("no chain");
    const held = Promise.withResolvers<never>();
    let askedCount = 0;
    const ask = (): Promise<never> => {
      askedCount += 1;
      return held.promise;
    };
    const readFacts = createReadFacts({ turn: { ask, askOther: ask } }, chain);
    const question = {
      chainId: chain.id,
      tokenAddress: tokens.get("usdc")?.mint ?? "",
      payer: freshAddress(),
      owner: freshAddress(),
    };
    const first = Array.from({ length: 8 }, () => readFacts(question).catch(() => "over"));
    await expect(readFacts(question)).rejects.toThrow("8 payers are being answered");
    expect(askedCount).toBe(8);
    held.reject(new Error("the node is away"));
    expect(new Set(await Promise.all(first))).toEqual(new Set(["over"]));
    await expect(readFacts(question)).rejects.toThrow("the node is away");
  });
});
