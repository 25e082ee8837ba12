import { describe, expect, test } from "@jest/globals";
import { type CatalogueData, createCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { freshAddress, startSolanaChain } from "../../testing/solana/start-solana-chain.ts";
import { noOwners } from "../../watch/chain/owners.ts";
import { solanaFamily } from "./solana-family.ts";

const localChain = useRig(startSolanaChain);

const findFault = async (modify: (data: CatalogueData) => CatalogueData) => {
  const catalogue = createCatalogue(modify(localChain.catalogueData));
  const [chain] = catalogue.chains;
  if (chain === undefined) throw new Error("the catalogue has no chain");
  const watchedChain = solanaFamily(
    catalogue,
    chain,
    {},
  )({
    urls: [localChain.url],
    clock: systemClock,
    log: createLog({ service: "test", level: "fatal" }),
    metrics: createRpcMetrics(createMetrics("test")),
    owners: noOwners,
  });
  const fault = await watchedChain.findFault(watchedChain.verifiers[0]?.id ?? "");
  watchedChain.close();
  return fault;
};

type Token = CatalogueData["tokens"][number];
const withToken =
  (overrides: Partial<Token>) =>
  (data: CatalogueData): CatalogueData => ({
    ...data,
    tokens: data.tokens.map((token) =>
      token.symbol === "USDC" ? { ...token, ...overrides } : token,
    ),
  });

describe("a chain of Solana is held against the catalogue", () => {
  test("and is what it says", async () => {
    expect(await findFault((data) => data)).toBeUndefined();
  });

  test("genesis hash", async () => {
    const withOtherGenesis = (data: CatalogueData): CatalogueData => ({
      ...data,
      chains: data.chains.map((chain) => ({
        ...chain,
        caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      })),
    });
    expect(await findFault(withOtherGenesis)).toMatch(/^the node serves the chain of genesis /);
  });

  test.each([
    ["a mint that is not there", { address: freshAddress() }, "there is no mint"],
    ["decimals", { decimals: 9 }, "decimals are 6, not 9"],
    ["the program", { tokenProgram: "token-2022" }, "it is of the program Tokenkeg"],
  ] as const)("%s", async (_, overrides, fault) => {
    expect(await findFault(withToken(overrides))).toContain(fault);
  });
});
