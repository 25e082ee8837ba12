import {
  type Hex,
  decodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  hexToBigInt,
  hexToString,
  parseAbiParameters,
  size,
} from "viem";
import type { CatalogueToken } from "@payment-links/contracts";
import { chunk } from "../../rpc/chunk.ts";
import type { ContractRequest, EvmReads } from "./evm-reads.ts";
import type { EvmChain } from "./evm-chain.ts";

const decimalsCall = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });
const symbolCall = encodeFunctionData({ abi: erc20Abi, functionName: "symbol" });

type ContractReader = Pick<EvmReads, "readChain" | "queryContracts">;

/**
 * Holds a chain against the catalogue (rule CHAIN-9): its id, code at the fee proxies, and each
 * token's code, decimals and symbol. The symbol's case is let pass, as issuers write it in several. Look-alikes
 * are left out: no money counts in them, and their contracts often bear the symbol of the other token.
 * Answers what is wrong in words for an operator, or undefined. Throws where nobody can be asked,
 * which is no fault.
 */
export const findChainFault = async (
  chain: EvmChain,
  reader: ContractReader,
): Promise<string | undefined> => {
  const servedChainId = await reader.readChain();
  if (servedChainId !== chain.chainName) return `the node serves chain ${servedChainId}`;
  const proxies = [chain.proxies.erc20, chain.proxies.ethereum].filter((proxy) => proxy !== null);
  const tokens = [...chain.tokens]
    .filter(([, { lookalikeOf }]) => lookalikeOf === undefined)
    .map(([address, token]) => ({ address: address as Hex, token }));
  // In as few requests as can be: a provider refuses who sends it two dozen at once.
  const results = await reader.queryContracts([
    ...proxies.map((address) => ({ address })),
    ...tokens.flatMap(({ address }) => createTokenRequests(address)),
  ]);
  const proxyWithoutCode = proxies.find((_, index) => !hasCode(results[index]));
  if (proxyWithoutCode !== undefined)
    return `there is no contract at the fee proxy ${chain.formatAddress(proxyWithoutCode)}`;
  const tokenResults = chunk(results.slice(proxies.length), requestsPerToken);
  for (const [index, { token }] of tokens.entries()) {
    const fault = findTokenFault(token, tokenResults[index] ?? []);
    if (fault !== undefined) return `token ${token.id} at ${token.address}: ${fault}`;
  }
  return undefined;
};

const requestsPerToken = 3;

const createTokenRequests = (address: Hex): ContractRequest[] => [
  { address },
  { address, data: decimalsCall },
  { address, data: symbolCall },
];

const findTokenFault = (
  token: CatalogueToken,
  [code, decimals, symbol]: readonly (Hex | undefined)[],
): string | undefined => {
  if (!hasCode(code)) return "there is no contract";
  const onChainDecimals = decimals === undefined ? undefined : decodeUint(decimals);
  if (onChainDecimals !== BigInt(token.decimals)) {
    return `decimals are ${onChainDecimals ?? "not told"}, not ${token.decimals}`;
  }
  const onChainSymbol = symbol === undefined ? undefined : decodeText(symbol);
  if (onChainSymbol?.toLowerCase() !== token.symbol.toLowerCase()) {
    return `the symbol is ${JSON.stringify(onChainSymbol ?? null)}, not ${token.symbol}`;
  }
  return undefined;
};

const hasCode = (code: Hex | undefined): boolean => code !== undefined && code !== "0x";

const wordBytes = 32;
/** Of a text, and of what stands before it: a symbol is a few letters long. */
const resultBytesMax = 256;
const stringParameters = parseAbiParameters("string");

const decodeUint = (result: Hex): bigint | undefined =>
  size(result) === wordBytes ? hexToBigInt(result) : undefined;

/**
 * A text as contracts answer it: an ABI string, or, from the oldest ones, 32 bytes padded with 0.
 */
const decodeText = (result: Hex): string | undefined => {
  if (size(result) === wordBytes) return hexToString(result, { size: wordBytes });
  if (size(result) > resultBytesMax) return undefined;
  try {
    return decodeAbiParameters(stringParameters, result)[0];
  } catch {
    // It is no text. What viem throws repeats the contract's answer.
    return undefined;
  }
};
