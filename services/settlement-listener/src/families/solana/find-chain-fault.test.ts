import { describe, expect, test } from "@jest/globals";
import { type CatalogueData, createCatalogue } from "@payment-links/contracts";
import { openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { freshAddress, openSolanaChain } from "../../testing/solana/open-solana-chain.ts";
import { noOwners } from "../../watch/chain/owners.ts";
import { solanaFamily } from "./solana-family.ts";

const local = useRig(openSolanaChain);

const findFault = async (change: (data: CatalogueData) => CatalogueData) => {
  const catalogue = createCatalogue(change(local.catalogueData));
  const [chain] = catalogue.chains;
  if (chain === undefined) throw new Error("the catalogue has no chain");
  const watched = solanaFamily(
    catalogue,
    chain,
    {},
  )({
    urls: [local.url],
    clock: systemClock,
    log: openLog({ service: "test", level: "fatal" }),
    metrics: createRpcMetrics(openMetrics("test")),
    owners: noOwners,
  });
  const fault = await watched.findFault(watched.witnesses[0]?.id ?? "");
  watched.close();
  return fault;
};

type Token = CatalogueData["tokens"][number];
const withToken =
  (change: Partial<Token>) =>
  (data: CatalogueData): CatalogueData => ({
    ...data,
    tokens: data.tokens.map((token) => (token.symbol === "USDC" ? { ...token, ...change } : token)),
  });

describe("a chain of Solana is held against the catalogue", () => {
  test("and is what it says", async () => {
    expect(await findFault((data) => data)).toBeUndefined();
  });

  test("genesis hash", async () => {
    const other = (data: CatalogueData): CatalogueData => ({
      ...data,
      chains: data.chains.map((chain) => ({
        ...chain,
        caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      })),
    });
    expect(await findFault(other)).toMatch(/^the node serves the chain of genesis /);
  });

  test.each([
    ["a mint that is not there", { address: freshAddress() }, "there is no mint"],
    ["decimals", { decimals: 9 }, "decimals are 6, not 9"],
    ["the program", { tokenProgram: "token-2022" }, "it is of the program Tokenkeg"],
  ] as const)("%s", async (_, change, fault) => {
    expect(await findFault(withToken(change))).toContain(fault);
  });
});
