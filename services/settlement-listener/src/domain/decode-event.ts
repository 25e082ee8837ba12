import {
  type AbiParameter,
  type Address,
  type Hex,
  decodeAbiParameters,
  parseAbiParameters,
  size,
  toEventSelector,
} from "viem";

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

/** An event: its first topic, how many topics it has, and what its data hold. */
type EventShape<Data> = { topic0: Hex; topicCount: number; data: Data };

/** The event of Request Network's ERC20FeeProxy: its one indexed field is the reference. */
export const erc20ProxyEvent = {
  topic0: toEventSelector(
    "TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
  ),
  topicCount: 2,
  data: parseAbiParameters("address token, address to, uint256 amount, uint256 fee, address feeTo"),
} as const;

/** The event of Request Network's EthereumFeeProxy, which names no token. */
export const nativeProxyEvent = {
  topic0: toEventSelector("TransferWithReferenceAndFee(address,uint256,bytes,uint256,address)"),
  topicCount: 2,
  data: parseAbiParameters("address to, uint256 amount, uint256 fee, address feeTo"),
} as const;

const transferEvent = {
  topic0: toEventSelector("Transfer(address,address,uint256)"),
  topicCount: 3,
  data: parseAbiParameters("uint256 value"),
} as const;

/**
 * Decodes an ERC20FeeProxy's event; undefined where the log is none. The reference is indexed, so
 * that the log holds its keccak256 alone.
 */
export const decodeErc20ProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  if (!hasShape(log, erc20ProxyEvent)) return undefined;
  const [token, destination, amount] = decodeAbiParameters(erc20ProxyEvent.data, log.data);
  return { referenceHash: topicOf(log, 1), token, destination, amount };
};

/** Decodes an EthereumFeeProxy's event; undefined where the log is none. */
export const decodeNativeProxyEvent = (log: EventLog): ProxyEvent | undefined => {
  if (!hasShape(log, nativeProxyEvent)) return undefined;
  const [destination, amount] = decodeAbiParameters(nativeProxyEvent.data, log.data);
  return { referenceHash: topicOf(log, 1), token: null, destination, amount };
};

/** Decodes ERC-20's Transfer: who got how many base units. Undefined where the log is none. */
export const decodeTokenTransfer = (log: EventLog): TokenTransfer | undefined => {
  if (!hasShape(log, transferEvent)) return undefined;
  const [destination] = decodeAbiParameters(addressWord, topicOf(log, 2));
  const [amount] = decodeAbiParameters(transferEvent.data, log.data);
  return { token: log.address, destination, amount };
};

const addressWord = parseAbiParameters("address");
const wordBytes = 32;

/**
 * Whether a log has just the topics and words of an event. `decodeEventLog` of viem would let more
 * of both through, repeats all data of a shorter log in its error, and hashes the event anew for
 * each log, which takes five times as long.
 */
const hasShape = (
  { topics, data }: EventLog,
  event: EventShape<readonly AbiParameter[]>,
): boolean =>
  topics[0] === event.topic0 &&
  topics.length === event.topicCount &&
  size(data) === event.data.length * wordBytes;

const topicOf = ({ topics }: EventLog, index: number): Hex => topics[index] ?? "0x";
