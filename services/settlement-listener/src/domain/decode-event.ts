import type { Hex } from "viem";

/** A log as a receipt holds it. */
export type EventLog = { address: Hex; topics: readonly Hex[]; data: Hex };

/** What a fee proxy said: whom it paid, and for which reference. `token` is null for a native coin. */
export type ProxyEvent = {
  referenceHash: Hex;
  token: Hex | null;
  destination: Hex;
  /** In base units, as the payer asked for it; of a token's transfer it proves nothing. */
  amount: bigint;
};

/** keccak256 of `TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)`. */
export const erc20ProxyTopic = "0x9f16cbcc523c67a60c450e5ffe4f3b7b6dbe772e7abcadb2686ce029a9a0a2b6";

/** keccak256 of `TransferWithReferenceAndFee(address,uint256,bytes,uint256,address)`: native coins. */
export const nativeProxyTopic =
  "0xa1c241e337c4610a9d0f881111e977e9dc8690c85fe2108897bb1483c66e6a96";

/** keccak256 of ERC-20's `Transfer(address,address,uint256)`. */
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Reads the event of Request Network's ERC20FeeProxy: the reference is its one indexed field, so that
 * the log holds its keccak256 alone. Undefined where the log is no such event.
 */
export const decodeErc20ProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  const [topic, referenceHash, ...more] = log.topics;
  const [token, destination, amount, , , ...rest] = wordsOf(log.data);
  if (topic !== erc20ProxyTopic || referenceHash === undefined || more.length > 0) return undefined;
  if (token === undefined || destination === undefined || amount === undefined || rest.length > 0) {
    return undefined;
  }
  return {
    referenceHash,
    token: addressOf(token),
    destination: addressOf(destination),
    amount: BigInt(amount),
  };
};

/** Reads the event of Request Network's EthereumFeeProxy, which names no token. */
export const decodeNativeProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  const [topic, referenceHash, ...more] = log.topics;
  const [destination, amount, , , ...rest] = wordsOf(log.data);
  if (topic !== nativeProxyTopic || referenceHash === undefined || more.length > 0) {
    return undefined;
  }
  if (destination === undefined || amount === undefined || rest.length > 0) return undefined;
  return {
    referenceHash,
    token: null,
    destination: addressOf(destination),
    amount: BigInt(amount),
  };
};

/** Reads ERC-20's Transfer: who got how many base units. Undefined where the log is none. */
export const decodeTokenTransfer = (
  log: EventLog,
): { destination: Hex; amount: bigint } | undefined => {
  const [topic, from, destination, ...more] = log.topics;
  const [amount, ...rest] = wordsOf(log.data);
  if (topic !== transferTopic || from === undefined || destination === undefined) return undefined;
  if (more.length > 0 || amount === undefined || rest.length > 0) return undefined;
  return { destination: addressOf(destination), amount: BigInt(amount) };
};

const wordDigits = 64;
const wholeWords = /^0x(?:[0-9a-f]{64})+$/;

/** The 32-byte words of an event's data; none where it is not made of such. */
const wordsOf = (data: Hex): readonly Hex[] => {
  if (!wholeWords.test(data)) return [];
  const words: Hex[] = [];
  for (let at = 2; at < data.length; at += wordDigits) {
    words.push(`0x${data.slice(at, at + wordDigits)}`);
  }
  return words;
};

const addressOf = (word: Hex): Hex => `0x${word.slice(-40)}`;
