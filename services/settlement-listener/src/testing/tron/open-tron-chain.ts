import type { Log } from "@payment-links/runtime";
import { type CatalogueData, tronFromHex } from "@payment-links/contracts";
import { openChain } from "../open-chain.ts";
import { type TronFront, openTronFront } from "./open-tron-front.ts";

/** What the rig's own chain is called; no public network has it. */
const localChainId = "1338";
const blockSeconds = 3;

export type TronChain = Awaited<ReturnType<typeof openTronChain>>;

/**
 * Opens a local Tron: an EVM node with the fee proxies and the rig's tokens, behind fronts that speak
 * java-tron's dialect. It is paid and mined as `openChain` is; `url` is a front.
 */
export const openTronChain = async ({
  finalizedLag = 19,
  blockRangeMax,
  chainId = localChainId,
  log,
}: {
  /** How many blocks behind the head the last solid block is. */
  finalizedLag?: number;
  /** Of one question for logs; 5000 if not given. */
  blockRangeMax?: number;
  chainId?: string;
  log?: Log;
} = {}) => {
  const chain = await openChain({ chainId, ...(log === undefined ? {} : { log }) });
  await chain.ask("anvil_setBlockTimestampInterval", [blockSeconds]);
  const fronts: TronFront[] = [];
  const openNode = async (): Promise<TronFront> => {
    const range = blockRangeMax === undefined ? {} : { blockRangeMax };
    const front = await openTronFront({ target: chain.url, finalizedLag, ...range });
    fronts.push(front);
    return front;
  };
  const node = await openNode();
  return {
    ...chain,
    chainId: "local-tron",
    /** The chain and its tokens, as a catalogue has them. */
    catalogueData: catalogueOf(chain.catalogueData, Number(chainId)),
    /** The front at `url`. */
    node,
    url: node.url,
    /** The node behind, which speaks as an EVM node does. */
    evmUrl: chain.url,
    /** Opens one more front of the same chain. */
    openNode,
    close: async (): Promise<void> => {
      await Promise.all(fronts.map((front) => front.close()));
      await chain.close();
    },
  };
};

/** The same contracts with Tron's forms of their addresses; the coin has no way to be paid. */
const catalogueOf = ({ chains, tokens }: CatalogueData, number: number): CatalogueData => ({
  chains: chains.flatMap(({ feeProxies }) =>
    feeProxies === undefined
      ? []
      : [
          {
            id: "local-tron",
            name: "Local Tron",
            symbol: "TRX",
            chainType: "TVM" as const,
            caip2: `tron:0x${number.toString(16)}`,
            feeProxies: {
              ...feeProxies,
              erc20: tronFromHex(feeProxies.erc20),
              ethereum: null,
            },
            isTestNetwork: true,
          },
        ],
  ),
  tokens: tokens
    .filter(({ isNative }) => !isNative)
    .map(({ takesSuffix: _evmOnly, ...token }) => ({
      ...token,
      id: tronIdOf(token.id),
      ...(token.lookalikeOf !== undefined && { lookalikeOf: tronIdOf(token.lookalikeOf) }),
      chainId: "local-tron",
      address: tronFromHex(token.address),
    })),
});

const tronIdOf = (tokenId: string): string => `${tokenId.split("-")[0]}-local-tron`;
