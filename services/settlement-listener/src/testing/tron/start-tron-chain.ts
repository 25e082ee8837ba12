import type { Log } from "@payment-links/runtime";
import { type CatalogueData, tronAddressFromHex } from "@payment-links/contracts";
import { startEvmChain } from "../start-evm-chain.ts";
import { type TronNode, startTronNode } from "./start-tron-node.ts";

/** What the rig's own chain is called; no public network has it. */
const localChainId = "1338";
const blockSeconds = 3;

export type LocalTronChain = Awaited<ReturnType<typeof startTronChain>>;

/**
 * Opens a local Tron: an EVM node with the fee proxies and the rig's tokens, behind fronts that speak
 * java-tron's dialect. It is paid and mined as `startEvmChain` is; `url` is a front.
 */
export const startTronChain = async ({
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
  const chain = await startEvmChain({ chainId, ...(log === undefined ? {} : { log }) });
  await chain.callRpc("anvil_setBlockTimestampInterval", [blockSeconds]);
  const nodes: TronNode[] = [];
  const startNode = async (): Promise<TronNode> => {
    const range = blockRangeMax === undefined ? {} : { blockRangeMax };
    const tronNode = await startTronNode({ target: chain.url, finalizedLag, ...range });
    nodes.push(tronNode);
    return tronNode;
  };
  const node = await startNode();
  return {
    ...chain,
    chainId: "local-tron",
    /** The chain and its tokens, as a catalogue has them. */
    catalogueData: createCatalogueData(chain.catalogueData, Number(chainId)),
    /** The front at `url`. */
    node,
    url: node.url,
    /** The node behind, which speaks as an EVM node does. */
    evmUrl: chain.url,
    /** Opens one more front of the same chain. */
    startNode,
    close: async (): Promise<void> => {
      await Promise.all(nodes.map((tronNode) => tronNode.close()));
      await chain.close();
    },
  };
};

/** The same contracts with Tron's forms of their addresses; the coin has no way to be paid. */
const createCatalogueData = (
  { chains, tokens }: CatalogueData,
  chainNumber: number,
): CatalogueData => ({
  chains: chains.flatMap(({ feeProxies }) =>
    feeProxies === undefined
      ? []
      : [
          {
            id: "local-tron",
            name: "Local Tron",
            symbol: "TRX",
            chainType: "TVM" as const,
            caip2: `tron:0x${chainNumber.toString(16)}`,
            feeProxies: {
              ...feeProxies,
              erc20: tronAddressFromHex(feeProxies.erc20),
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
      id: toTronTokenId(token.id),
      ...(token.lookalikeOf !== undefined && { lookalikeOf: toTronTokenId(token.lookalikeOf) }),
      chainId: "local-tron",
      address: tronAddressFromHex(token.address),
    })),
});

const toTronTokenId = (tokenId: string): string => `${tokenId.split("-")[0]}-local-tron`;
