import { type Address, type Hex, getAddress, toEventSelector } from "viem";

/** A log as a receipt holds it. */
export type EventLog = { address: Hex; topics: readonly Hex[]; data: Hex };

/**
 * What a fee proxy said: whom it paid, and for which reference. `token` is null for a native coin.
 */
export type ProxyEvent = {
  referenceHash: Hex;
  token: Address | null;
  destination: Address;
  /** In base units, as the payer asked for it; of a token's transfer it proves nothing. */
  amount: bigint;
};

/** An ERC-20 token's own word that it has moved base units. */
export type TokenTransfer = { token: Hex; destination: Address; amount: bigint };

/** An event: its first topic, how many topics it has, and how many words its data. */
type EventShape = { topic0: Hex; topicCount: number; wordCount: number };

/** The event of Request Network's ERC20FeeProxy: its one indexed field is the reference. */
export const erc20ProxyEvent = {
  topic0: toEventSelector(
    "TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
  ),
  topicCount: 2,
  // Token, destination, amount, fee, whom the fee goes to.
  wordCount: 5,
} as const;

/** The event of Request Network's EthereumFeeProxy, which names no token. */
export const nativeProxyEvent = {
  topic0: toEventSelector("TransferWithReferenceAndFee(address,uint256,bytes,uint256,address)"),
  topicCount: 2,
  // Destination, amount, fee, whom the fee goes to.
  wordCount: 4,
} as const;

/** ERC-20's event. Its indexed fields are who sent and who got it. */
export const transferEvent = {
  topic0: toEventSelector("Transfer(address,address,uint256)"),
  topicCount: 3,
  wordCount: 1,
} as const;

/**
 * Decodes an ERC20FeeProxy's event; undefined where the log is none. The reference is indexed, so
 * that the log holds its keccak256 alone.
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

/** Decodes an EthereumFeeProxy's event; undefined where the log is none. */
export const decodeNativeProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  if (!hasShape(log, nativeProxyEvent)) return undefined;
  return {
    referenceHash: readTopic(log, 1),
    token: null,
    destination: toAddress(readDataWord(log, 0)),
    amount: BigInt(readDataWord(log, 1)),
  };
};

/** Decodes ERC-20's Transfer: who got how many base units. Undefined where the log is none. */
export const decodeTokenTransfer = (log: EventLog): TokenTransfer | undefined => {
  const amount = decodeTransferAmount(log);
  if (amount === undefined) return undefined;
  return { token: log.address, destination: toAddress(readTopic(log, 2)), amount };
};

/** How many base units ERC-20's Transfer tells of; undefined where the log is none. */
export const decodeTransferAmount = (log: EventLog): bigint | undefined =>
  hasShape(log, transferEvent) ? BigInt(readDataWord(log, 0)) : undefined;

/** Who sent what a token's `Transfer` tells of. */
export const decodePayer = (log: EventLog): Address => toAddress(readTopic(log, 1));

const prefixLength = 2;
const wordLength = 64;
const addressLength = 40;

/** A word of a log's data, which has it. */
const readDataWord = ({ data }: EventLog, index: number): Hex => {
  const start = prefixLength + index * wordLength;
  return `0x${data.slice(start, start + wordLength)}`;
};

/** The address in a word, in EIP-55 form. What stands before it counts for nothing, as in Solidity. */
const toAddress = (word: Hex): Address => getAddress(`0x${word.slice(-addressLength)}`);

/** Whether a log has just the topics and words of an event. */
const hasShape = ({ topics, data }: EventLog, event: EventShape): boolean =>
  topics[0] === event.topic0 &&
  topics.length === event.topicCount &&
  data.length === prefixLength + event.wordCount * wordLength;

const readTopic = ({ topics }: EventLog, index: number): Hex => topics[index] ?? "0x";
