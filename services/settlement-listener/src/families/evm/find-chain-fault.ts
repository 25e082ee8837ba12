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
import type { EvmReads } from "./evm-reads.ts";
import type { EvmChain } from "./evm-chain.ts";

const decimalsCall = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });
const symbolCall = encodeFunctionData({ abi: erc20Abi, functionName: "symbol" });

type TokenReader = Pick<EvmReads, "readChain" | "readCode" | "call">;

/**
 * Holds a chain against the catalogue (rule CHAIN-9): its id, code at the fee proxies, and each
 * token's code, decimals and symbol. The symbol's case is let pass, as issuers write it in several.
 * Answers what is wrong in words for an operator, or undefined. Throws where nobody can be asked,
 * which is no fault.
 */
export const findChainFault = async (
  chain: EvmChain,
  reader: TokenReader,
): Promise<string | undefined> => {
  const served = await reader.readChain();
  if (served !== chain.chainName) return `the node serves chain ${served}`;
  // At once, as a watch that begins waits for it; the first fault in this order is told.
  const faults = await Promise.all([
    ...[chain.proxies.erc20, chain.proxies.ethereum].map((proxy) =>
      findProxyFault(chain, reader, proxy),
    ),
    ...[...chain.tokens].map(async ([address, token]) => {
      const fault = await findTokenFault(reader, address as Hex, token);
      return fault && `token ${token.id} at ${token.address}: ${fault}`;
    }),
  ]);
  return faults.find((fault) => fault !== undefined);
};

const findProxyFault = async (
  { showAddress }: EvmChain,
  reader: TokenReader,
  proxy: Hex | null,
): Promise<string | undefined> =>
  proxy === null || (await hasCode(reader, proxy))
    ? undefined
    : `there is no contract at the fee proxy ${showAddress(proxy)}`;

const findTokenFault = async (
  reader: TokenReader,
  address: Hex,
  token: CatalogueToken,
): Promise<string | undefined> => {
  const [isThere, decimals, symbol] = await Promise.all([
    hasCode(reader, address),
    reader.call(address, decimalsCall),
    reader.call(address, symbolCall),
  ]);
  if (!isThere) return "there is no contract";
  const readDecimals = decimals === undefined ? undefined : readNumber(decimals);
  if (readDecimals !== BigInt(token.decimals)) {
    return `decimals are ${readDecimals ?? "not told"}, not ${token.decimals}`;
  }
  const readSymbol = symbol === undefined ? undefined : readText(symbol);
  if (readSymbol?.toLowerCase() !== token.symbol.toLowerCase()) {
    return `the symbol is ${JSON.stringify(readSymbol ?? null)}, not ${token.symbol}`;
  }
  return undefined;
};

const hasCode = async (reader: TokenReader, address: Hex): Promise<boolean> =>
  (await reader.readCode(address)) !== "0x";

const wordBytes = 32;
/** Of a text, and of what stands before it: a symbol is a few letters long. */
const answerBytesMax = 256;
const text = parseAbiParameters("string");

const readNumber = (answer: Hex): bigint | undefined =>
  size(answer) === wordBytes ? hexToBigInt(answer) : undefined;

/**
 * A text as contracts answer it: an ABI string, or, from the oldest ones, 32 bytes padded with 0.
 */
const readText = (answer: Hex): string | undefined => {
  if (size(answer) === wordBytes) return hexToString(answer, { size: wordBytes });
  if (size(answer) > answerBytesMax) return undefined;
  try {
    return decodeAbiParameters(text, answer)[0];
  } catch {
    // It is no text. What viem throws repeats the contract's answer.
    return undefined;
  }
};
