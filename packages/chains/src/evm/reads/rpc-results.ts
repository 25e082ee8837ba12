import { createHash } from "node:crypto";
import type { Hex } from "viem";
import type { EventLog } from "./decode-event.ts";
import type { BlockHeader } from "../../reads/chain-reader.ts";
import {
  type ResultParser,
  parseArray,
  parseObject,
  throwInvalidShape,
} from "../../rpc/parse-result.ts";

// These parsers are handwritten, because catching up reads hundreds of thousands of receipts, and
// schema validation took most of that time.

/** A header of an EVM node. */
export type EvmHeader = BlockHeader & {
  hash: Hex;
  parentHash: Hex;
  logsBloom: Hex;
  /** The id of the provider that returned the header. `readHeaders` sets it. */
  providerId?: string;
};

/**
 * Parses the fields of a header that are used. As in JSON-RPC, null means that the block does not
 * exist.
 */
export const parseHeader: ResultParser<EvmHeader | null> = (result) => {
  if (result === null) return null;
  const header = parseObject(result);
  return {
    number: parseQuantity(header["number"]),
    hash: parseWord(header["hash"]),
    parentHash: parseWord(header["parentHash"]),
    timestampSeconds: parseTimestamp(header["timestamp"]),
    logsBloom: parseHex(header["logsBloom"], bloomPattern),
  };
};

/**
 * A log of a configured fee proxy or of a token's transfer to an owner, with its position. It only
 * points to a receipt and proves nothing itself.
 */
export type IndexedLog = EventLog & {
  blockNumber: number;
  blockHash: Hex;
  transactionHash: Hex;
  /** The index in the block, which determines the order of logs. */
  logIndex: number;
  /** The block's time in Unix seconds, if the node returns it with the log. It saves a request. */
  timestampSeconds?: number;
};

export const parseIndexedLogs: ResultParser<(IndexedLog & { removed?: boolean | undefined })[]> = (
  result,
) => parseArray(result).map(parseIndexedLog);

/** The result of a transaction in the block that a node considers canonical. */
export type EvmReceipt = {
  transactionHash: Hex;
  blockNumber: number;
  blockHash: Hex;
  isSuccessful: boolean;
  from: Hex;
  /** The logs of the chain's proxies and tokens, in the order of the receipt. */
  logs: readonly EventLog[];
  /**
   * The SHA-256 digest of all other logs. Two providers must return the same receipt, including
   * these logs.
   */
  otherLogsDigest: string;
};

/**
 * Parses a receipt with the logs of some contracts, and computes a digest of all other logs,
 * because anyone can create megabytes of those. Rejects a receipt without a status (from before
 * Byzantium), one with a duplicate log, and one without logs but with a bloom that is not empty.
 */
export const parseReceipt =
  (contracts: ReadonlySet<Hex>): ResultParser<EvmReceipt | null> =>
  (result) => {
    if (result === null) return null;
    const receipt = parseObject(result);
    const status = receipt["status"];
    if (status !== "0x0" && status !== "0x1") return throwInvalidShape();
    const logs = parseArray(receipt["logs"]).map((log) => {
      const fields = parseObject(log);
      return { log: parseLog(fields), logIndex: parseQuantity(fields["logIndex"]) };
    });
    logs.sort((a, b) => a.logIndex - b.logIndex);
    if (logs.some(({ logIndex }, index) => logIndex === logs[index - 1]?.logIndex))
      return throwInvalidShape();
    const { logsBloom } = receipt;
    if (
      logs.length === 0 &&
      typeof logsBloom === "string" &&
      /[1-9a-f]/i.test(logsBloom.slice(2))
    ) {
      return throwInvalidShape();
    }
    const contractLogs = logs.filter(({ log }) => contracts.has(log.address));
    const otherLogsHash = createHash("sha256");
    for (const entry of logs)
      if (!contracts.has(entry.log.address)) otherLogsHash.update(JSON.stringify(entry));
    return {
      transactionHash: parseWord(receipt["transactionHash"]),
      blockNumber: parseQuantity(receipt["blockNumber"]),
      blockHash: parseWord(receipt["blockHash"]),
      isSuccessful: status === "0x1",
      from: parseHex(receipt["from"], addressPattern),
      logs: contractLogs.map(({ log }) => log),
      otherLogsDigest: otherLogsHash.digest("hex"),
    };
  };

/** Parses a transaction's hash, sender and nonce, or null. */
export const parseTransactionSender: ResultParser<
  { transactionHash: Hex; address: Hex; nonce: number } | null
> = (result) => {
  if (result === null) return null;
  const transaction = parseObject(result);
  return {
    transactionHash: parseWord(transaction["hash"]),
    address: parseHex(transaction["from"], addressPattern),
    nonce: parseQuantity(transaction["nonce"]),
  };
};

/**
 * The call of a transaction. `to` is the contract, or null for a contract creation, and `input` is
 * the calldata in lowercase.
 */
export type TransactionCall = { to: Hex | null; input: Hex };

/**
 * Parses a transaction's hash and call, or null. Replaces calldata of more than 4 KiB with `0x`.
 */
export const parseTransactionCall: ResultParser<
  (TransactionCall & { transactionHash: Hex }) | null
> = (result) => {
  if (result === null) return null;
  const { hash, input, to } = parseObject(result);
  return {
    transactionHash: parseWord(hash),
    to: to === null || to === undefined ? null : parseHex(to, addressPattern),
    input: parseCalldata(input),
  };
};

/**
 * The maximum length of calldata. Calldata that identifies a link is shorter: an ERC-20 `transfer`,
 * a reference, and attributions.
 */
const calldataCharactersMax = 8_192;

/** Parses calldata. Returns `0x` if it is too long to identify a link. */
const parseCalldata: ResultParser<Hex> = (input) => {
  const bytes = parseBytes(input);
  return bytes.length > calldataCharactersMax ? "0x" : bytes;
};

/** Parses a block's hash and the hashes of its transactions, or null. */
export const parseTransactionHashes: ResultParser<
  {
    hash: Hex;
    transactionHashes: readonly Hex[];
  } | null
> = (result) => {
  if (result === null) return null;
  const block = parseObject(result);
  return {
    hash: parseWord(block["hash"]),
    transactionHashes: parseArray(block["transactions"]).map(parseWord),
  };
};

/** Parses a receipt's location and its logs of some contracts, or null. */
export const parseReceiptLogs =
  (
    addresses: ReadonlySet<Hex>,
  ): ResultParser<{ transactionHash: Hex; blockHash: Hex; logs: readonly IndexedLog[] } | null> =>
  (result) => {
    if (result === null) return null;
    const receipt = parseObject(result);
    const contractLogs = parseArray(receipt["logs"]).filter((log) =>
      addresses.has(parseHex(parseObject(log)["address"], addressPattern)),
    );
    return {
      transactionHash: parseWord(receipt["transactionHash"]),
      blockHash: parseWord(receipt["blockHash"]),
      logs: contractLogs.map(parseIndexedLog),
    };
  };

/** Parses a hex quantity that is a safe integer. */
export const parseQuantity: ResultParser<number> = (result) => {
  const count = Number(parseHex(result, quantityPattern));
  return Number.isSafeInteger(count) ? count : throwInvalidShape();
};

/** The end of the year 9999. Rows and events cannot store later times. */
const timeSecondsMax = 253_402_300_799;

const parseTimestamp: ResultParser<number> = (result) => {
  const seconds = parseQuantity(result);
  return seconds <= timeSecondsMax ? seconds : throwInvalidShape();
};

/** Parses hex with any number of complete bytes. */
export const parseBytes: ResultParser<Hex> = (result) => {
  if (typeof result !== "string" || result.length % 2 !== 0) return throwInvalidShape();
  const lowercase = result.toLowerCase();
  return isHexOfAnyLength(lowercase) ? lowercase : throwInvalidShape();
};

// Searches for the first invalid digit. A pattern that matches megabytes as a whole would overflow
// the stack.
const isHexOfAnyLength = (text: string): text is Hex =>
  text.startsWith("0x") && !nonHexDigit.test(text.slice(2));

const nonHexDigit = /[^0-9a-f]/;
const addressPattern = /^0x[0-9a-f]{40}$/;
const wordPattern = /^0x[0-9a-f]{64}$/;
const bloomPattern = /^0x[0-9a-f]{512}$/;
const quantityPattern = /^0x[0-9a-f]{1,16}$/;
const topicsMax = 4;

const parseIndexedLog = (item: unknown): IndexedLog & { removed?: boolean | undefined } => {
  const fields = parseObject(item);
  const { blockTimestamp, removed } = fields;
  if (removed !== undefined && typeof removed !== "boolean") return throwInvalidShape();
  const timestampSeconds = parseBlockTimestamp(blockTimestamp);
  return {
    ...parseLog(fields),
    blockNumber: parseQuantity(fields["blockNumber"]),
    blockHash: parseWord(fields["blockHash"]),
    transactionHash: parseWord(fields["transactionHash"]),
    logIndex: parseQuantity(fields["logIndex"]),
    ...(removed === undefined ? {} : { removed }),
    ...(timestampSeconds === undefined ? {} : { timestampSeconds }),
  };
};

/** Newer nodes return the block's time with each log. An invalid time is treated as missing. */
const parseBlockTimestamp = (value: unknown): number | undefined => {
  if (typeof value !== "string" || !quantityPattern.test(value.toLowerCase())) return undefined;
  const timestampSeconds = Number(value);
  return timestampSeconds <= timeSecondsMax ? timestampSeconds : undefined;
};

const parseLog = (fields: Readonly<Record<string, unknown>>): EventLog => {
  const topics = parseArray(fields["topics"]).map(parseWord);
  if (topics.length > topicsMax) return throwInvalidShape();
  return {
    address: parseHex(fields["address"], addressPattern),
    topics,
    data: parseBytes(fields["data"]),
  };
};

const parseWord = (value: unknown): Hex => parseHex(value, wordPattern);

/** Parses hex that matches a pattern and converts it to lowercase. */
const parseHex = (value: unknown, pattern: RegExp): Hex => {
  if (matchesPattern(value, pattern)) return value;
  const lowercase =
    typeof value === "string" && value.startsWith("0x") ? value.toLowerCase() : null;
  return matchesPattern(lowercase, pattern) ? lowercase : throwInvalidShape();
};

const matchesPattern = (value: unknown, pattern: RegExp): value is Hex =>
  typeof value === "string" && pattern.test(value);
