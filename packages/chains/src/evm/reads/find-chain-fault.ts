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
import type { EvmChain } from "./evm-chain.ts";
import type { ContractRequest, EvmReader } from "./evm-reader.ts";

const decimalsCall = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });
const symbolCall = encodeFunctionData({ abi: erc20Abi, functionName: "symbol" });

type ContractReader = Pick<EvmReader, "readChain" | "queryContracts">;

/**
 * Checks that a provider matches the catalogue (rule CHAIN-9): the chain id, the code at the fee
 * proxies, and each token's code, decimals and symbol. The case of the symbol is ignored, because
 * issuers vary it. Look-alikes are not checked, because payments in them are not applied, and their
 * contracts often have the original token's symbol. Returns a description of the mismatch for the
 * operator, or undefined. Throws if no provider answers, because that is not a mismatch.
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
  // Sends only a few requests, because providers reject two dozen concurrent ones.
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
    return `decimals are ${onChainDecimals ?? "missing"}, not ${token.decimals}`;
  }
  const onChainSymbol = symbol === undefined ? undefined : decodeText(symbol);
  if (onChainSymbol?.toLowerCase() !== token.symbol.toLowerCase()) {
    return `the symbol is ${JSON.stringify(onChainSymbol ?? null)}, not ${token.symbol}`;
  }
  return undefined;
};

const hasCode = (code: Hex | undefined): boolean => code !== undefined && code !== "0x";

const wordBytes = 32;
/** The maximum size of an ABI-encoded string. A symbol has only a few letters. */
const resultBytesMax = 256;
const stringParameters = parseAbiParameters("string");

const decodeUint = (result: Hex): bigint | undefined =>
  size(result) === wordBytes ? hexToBigInt(result) : undefined;

/**
 * Decodes a contract's text. It is an ABI-encoded string, or 32 zero-padded bytes in the oldest
 * contracts.
 */
const decodeText = (result: Hex): string | undefined => {
  if (size(result) === wordBytes) return hexToString(result, { size: wordBytes });
  if (size(result) > resultBytesMax) return undefined;
  try {
    return decodeAbiParameters(stringParameters, result)[0];
  } catch {
    // The result is not a string. viem's error is not passed on, because it contains the contract's
    // response.
    return undefined;
  }
};
