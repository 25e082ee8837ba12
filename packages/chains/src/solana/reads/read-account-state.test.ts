import { describe, expect, test } from "@jest/globals";
import {
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { createCatalogue } from "@payment-links/contracts";
import { toSolanaChain } from "./solana-chain.ts";
import { createReadAccountState } from "./read-account-state.ts";

describe("createReadAccountState", () => {
  test("answers eight requests at a time and rejects a ninth without asking a node", async () => {
    const { catalogueData, close, tokens } = await startSolanaChain();
    await close();
    const catalogue = createCatalogue(catalogueData);
    const [chain] = catalogue.chains.map((catalogueChain) =>
      toSolanaChain(catalogue, catalogueChain),
    );
    if (chain === undefined) throw new Error("no chain");
    const pendingRead = Promise.withResolvers<never>();
    let requestCount = 0;
    const waitForRead = (): Promise<never> => {
      requestCount += 1;
      return pendingRead.promise;
    };
    const readAccountState = createReadAccountState({ run: waitForRead }, chain);
    const request = {
      chainId: chain.id,
      tokenAddress: tokens.get("usdc")?.mint ?? "",
      payer: freshAddress(),
      owner: freshAddress(),
    };
    const firstReads = Array.from({ length: 8 }, () =>
      readAccountState(request).catch(() => "over"),
    );
    await expect(readAccountState(request)).rejects.toThrow("8 reads are already in progress");
    expect(requestCount).toBe(8);
    pendingRead.reject(new Error("the node is unavailable"));
    expect(new Set(await Promise.all(firstReads))).toEqual(new Set(["over"]));
    await expect(readAccountState(request)).rejects.toThrow("the node is unavailable");
  });
});
