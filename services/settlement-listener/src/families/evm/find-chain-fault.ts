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
import type { ContractQuestion, EvmReads } from "./evm-reads.ts";
import type { EvmChain } from "./evm-chain.ts";

const decimalsCall = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });
const symbolCall = encodeFunctionData({ abi: erc20Abi, functionName: "symbol" });

type ContractReader = Pick<EvmReads, "readChain" | "askContracts">;

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
  const served = await reader.readChain();
  if (served !== chain.chainName) return `the node serves chain ${served}`;
  const proxies = [chain.proxies.erc20, chain.proxies.ethereum].filter((proxy) => proxy !== null);
  const tokens = [...chain.tokens]
    .filter(([, { lookalikeOf }]) => lookalikeOf === undefined)
    .map(([address, token]) => ({ address: address as Hex, token }));
  // In as few requests as can be: a provider refuses who sends it two dozen at once.
  const answers = await reader.askContracts([
    ...proxies.map((address) => ({ address })),
    ...tokens.flatMap(({ address }) => tokenQuestions(address)),
  ]);
  const bare = proxies.find((_, index) => !hasCode(answers[index]));
  if (bare !== undefined) return `there is no contract at the fee proxy ${chain.showAddress(bare)}`;
  const ofTokens = chunk(answers.slice(proxies.length), tokenQuestionCount);
  for (const [index, { token }] of tokens.entries()) {
    const fault = findTokenFault(token, ofTokens[index] ?? []);
    if (fault !== undefined) return `token ${token.id} at ${token.address}: ${fault}`;
  }
  return undefined;
};

const tokenQuestionCount = 3;

const tokenQuestions = (address: Hex): ContractQuestion[] => [
  { address },
  { address, data: decimalsCall },
  { address, data: symbolCall },
];

const findTokenFault = (
  token: CatalogueToken,
  [code, decimals, symbol]: readonly (Hex | undefined)[],
): string | undefined => {
  if (!hasCode(code)) return "there is no contract";
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

const hasCode = (code: Hex | undefined): boolean => code !== undefined && code !== "0x";

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
