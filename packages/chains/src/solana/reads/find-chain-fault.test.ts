import { describe, expect, test } from "@jest/globals";
import { type CatalogueData, createCatalogue } from "@payment-links/contracts";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import {
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { noOwners } from "../../reads/watched-chain.ts";
import { createSolanaReaders } from "./create-readers.ts";

const localChain = useRig(startSolanaChain);

const findFault = async (modify: (data: CatalogueData) => CatalogueData) => {
  const catalogue = createCatalogue(modify(localChain.catalogueData));
  const [chain] = catalogue.chains;
  if (chain === undefined) throw new Error("the catalogue has no chain");
  const watchedChain = createSolanaReaders(
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

describe("findChainFault", () => {
  test("accepts a chain that matches the catalogue", async () => {
    expect(await findFault((data) => data)).toBeUndefined();
  });

  test("rejects another genesis hash", async () => {
    const withOtherGenesis = (data: CatalogueData): CatalogueData => ({
      ...data,
      chains: data.chains.map((chain) => ({
        ...chain,
        caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      })),
    });
    expect(await findFault(withOtherGenesis)).toMatch(
      /^the node serves a chain whose genesis hash starts with /,
    );
  });

  test.each([
    ["a missing mint", { address: freshAddress() }, "the mint does not exist"],
    ["other decimals", { decimals: 9 }, "decimals are 6, not 9"],
    ["another token program", { tokenProgram: "token-2022" }, "its program is Tokenkeg"],
  ] as const)("rejects %s", async (_, overrides, fault) => {
    expect(await findFault(withToken(overrides))).toContain(fault);
  });
});
