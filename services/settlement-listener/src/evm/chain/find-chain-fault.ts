import type { Hex } from "viem";
import type { CatalogueToken } from "@payment-links/contracts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import type { WatchedChain } from "./watched-chain.ts";

/** The selectors of `decimals()` and `symbol()`. */
const decimalsCall = "0x313ce567";
const symbolCall = "0x95d89b41";

/**
 * Holds a chain against the catalogue: its id, code where the fee proxies are, and of every token code,
 * decimals and symbol (letter case aside: issuers write it in several). Answers what is wrong, in
 * words for an operator, or undefined; throws where nobody can be asked, which is no fault.
 */
export const findChainFault = async (
  chain: WatchedChain,
  reader: ChainReader,
): Promise<string | undefined> => {
  const chainId = await reader.readChainId();
  if (String(chainId) !== chain.id) return `the node serves chain ${chainId}`;
  for (const proxy of [chain.proxies.erc20, chain.proxies.ethereum]) {
    if (proxy === null || (await hasCode(reader, proxy))) continue;
    return `there is no contract at the fee proxy ${proxy}`;
  }
  const checking = [...chain.tokens].map(async ([address, token]) => {
    const fault = await findTokenFault(reader, address as Hex, token);
    return fault === undefined ? [] : `token ${token.id} at ${token.address}: ${fault}`;
  });
  const [first] = (await Promise.all(checking)).flat();
  return first;
};

const findTokenFault = async (
  reader: ChainReader,
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

const hasCode = async (reader: ChainReader, address: Hex): Promise<boolean> =>
  (await reader.readCode(address)) !== "0x";

const word = /^0x[0-9a-f]{64}$/;

const readNumber = (answer: Hex): bigint | undefined =>
  word.test(answer) ? BigInt(answer) : undefined;

const textBytesMax = 64;

/** A text as contracts answer it: an ABI string, or, from the oldest ones, 32 bytes padded with 0. */
const readText = (answer: Hex): string | undefined => {
  const bytes = Buffer.from(answer.slice(2), "hex");
  if (bytes.length === 32) return bytes.toString("utf8").replace(/\0+$/, "");
  if (bytes.length < 64 || !bytes.subarray(0, 32).equals(stringHead)) return undefined;
  const length = Number(BigInt(`0x${bytes.subarray(32, 64).toString("hex")}`));
  if (length > textBytesMax || bytes.length < 64 + length) return undefined;
  return bytes.subarray(64, 64 + length).toString("utf8");
};

/** Where the one text of an answer begins: behind this word. */
const stringHead = Buffer.from("20".padStart(64, "0"), "hex");
