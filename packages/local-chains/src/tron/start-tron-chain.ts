import type { Log } from "@payment-links/runtime";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import type { CatalogueData } from "@payment-links/contracts";
import { startEvmChain } from "../evm/start-evm-chain.ts";
import { type TronNode, startTronNode } from "./start-tron-node.ts";

/** The chain id of the local chain. No public network uses it. */
const localChainId = "1338";
const blockSeconds = 3;

export type LocalTronChain = Awaited<ReturnType<typeof startTronChain>>;

/**
 * Starts a local Tron chain: an EVM node with the fee proxies and the test tokens, behind proxies
 * that use java-tron's dialect of JSON-RPC. Payments and mining work like in `startEvmChain`. `url`
 * is the URL of such a proxy.
 */
export const startTronChain = async ({
  finalizedLag = 19,
  blockRangeMax,
  chainId = localChainId,
  log,
}: {
  /** The number of blocks by which the last solid block lags behind the head. */
  finalizedLag?: number;
  /** The maximum range of a log request. The default is 5000. */
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
    /** The data of the chain and its tokens for the catalogue. */
    catalogueData: createCatalogueData(chain.catalogueData, Number(chainId)),
    /** The proxy at `url`. */
    node,
    url: node.url,
    /** The URL of the EVM node behind the proxies. */
    evmUrl: chain.url,
    /** Starts another proxy in front of the same chain. */
    startNode,
    close: async (): Promise<void> => {
      await Promise.all(nodes.map((tronNode) => tronNode.close()));
      await chain.close();
    },
  };
};

/**
 * Converts the catalogue data to Tron addresses. Leaves out the native coin, because links cannot
 * be paid in it.
 */
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
