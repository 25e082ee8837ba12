import { type Address, type Hex, getAddress, toEventSelector } from "viem";

/** A log of a receipt. */
export type EventLog = { address: Hex; topics: readonly Hex[]; data: Hex };

/**
 * A fee proxy's event, with the paid address and the reference. `token` is null for the native
 * coin.
 */
export type ProxyEvent = {
  referenceHash: Hex;
  token: Address | null;
  destination: Address;
  /**
   * The amount that the payer requested, in base units. It does not prove that the token
   * transferred this amount.
   */
  amount: bigint;
};

/** The `Transfer` event of an ERC-20 token, with the amount in base units. */
export type TokenTransfer = { token: Hex; destination: Address; amount: bigint };

/** The format of an event: its first topic, its number of topics, and its number of data words. */
type EventShape = { topic0: Hex; topicCount: number; wordCount: number };

/** The event of Request Network's ERC20FeeProxy. Its only indexed field is the reference. */
export const erc20ProxyEvent = {
  topic0: toEventSelector(
    "TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
  ),
  topicCount: 2,
  // The data contains the token, destination, amount, fee and fee recipient.
  wordCount: 5,
} as const;

/** The event of Request Network's EthereumFeeProxy. It has no token field. */
export const nativeProxyEvent = {
  topic0: toEventSelector("TransferWithReferenceAndFee(address,uint256,bytes,uint256,address)"),
  topicCount: 2,
  // The data contains the destination, amount, fee and fee recipient.
  wordCount: 4,
} as const;

/** ERC-20's `Transfer` event. Its indexed fields are the sender and the recipient. */
export const transferEvent = {
  topic0: toEventSelector("Transfer(address,address,uint256)"),
  topicCount: 3,
  wordCount: 1,
} as const;

/**
 * Decodes an ERC20FeeProxy event. Returns undefined for any other log. The reference is indexed, so
 * the log contains only its keccak256 hash.
 */
export const decodeErc20ProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  if (!hasShape(log, erc20ProxyEvent)) return undefined;
  return {
    referenceHash: readTopic(log, 1),
    token: toAddress(readDataWord(log, 0)),
    destination: toAddress(readDataWord(log, 1)),
    amount: BigInt(readDataWord(log, 2)),
  };
};

/** Decodes an EthereumFeeProxy event. Returns undefined for any other log. */
export const decodeNativeProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  if (!hasShape(log, nativeProxyEvent)) return undefined;
  return {
    referenceHash: readTopic(log, 1),
    token: null,
    destination: toAddress(readDataWord(log, 0)),
    amount: BigInt(readDataWord(log, 1)),
  };
};

/**
 * Decodes the recipient and the amount (in base units) of an ERC-20 `Transfer`. Returns undefined
 * for any other log.
 */
export const decodeTokenTransfer = (log: EventLog): TokenTransfer | undefined => {
  const amount = decodeTransferAmount(log);
  if (amount === undefined) return undefined;
  return { token: log.address, destination: toAddress(readTopic(log, 2)), amount };
};

/** Returns the amount of an ERC-20 `Transfer` in base units, or undefined for any other log. */
export const decodeTransferAmount = (log: EventLog): bigint | undefined =>
  hasShape(log, transferEvent) ? BigInt(readDataWord(log, 0)) : undefined;

/** Returns the sender in a token's `Transfer`. */
export const decodePayer = (log: EventLog): Address => toAddress(readTopic(log, 1));

const prefixLength = 2;
const wordLength = 64;
const addressLength = 40;

/** Returns a word of a log's data. The log must have that word. */
const readDataWord = ({ data }: EventLog, index: number): Hex => {
  const start = prefixLength + index * wordLength;
  return `0x${data.slice(start, start + wordLength)}`;
};

/**
 * Returns the address in a word in EIP-55 form. Ignores the padding bytes before the address, as
 * Solidity does.
 */
const toAddress = (word: Hex): Address => getAddress(`0x${word.slice(-addressLength)}`);

/** Returns whether a log has exactly the number of topics and data words of an event. */
const hasShape = ({ topics, data }: EventLog, event: EventShape): boolean =>
  topics[0] === event.topic0 &&
  topics.length === event.topicCount &&
  data.length === prefixLength + event.wordCount * wordLength;

const readTopic = ({ topics }: EventLog, index: number): Hex => topics[index] ?? "0x";
