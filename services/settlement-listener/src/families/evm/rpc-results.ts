import { createHash } from "node:crypto";
import type { Hex } from "viem";
import type { EventLog } from "./decode-event.ts";
import type { EvmHeader, EvmReceipt, ProxyLog, TransactionCall } from "./evm-reads.ts";
import {
  type ResultParser,
  parseArray,
  parseObject,
  throwInvalidShape,
} from "../../rpc/parse-result.ts";

// Catching up reads hundreds of thousands of receipts; validating by schemas was the largest part
// of its cost.

/**
 * The parts of a header that are read. As on the wire, null stands for something that is not there.
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

/** A log and its place in the whole block, by which answers are put in order. */
export type IndexedLog = ProxyLog & { logIndex: number };

export const parseIndexedLogs: ResultParser<(IndexedLog & { removed?: boolean | undefined })[]> = (
  result,
) => parseArray(result).map(parseIndexedLog);

/**
 * A receipt with the logs of some contracts, and a digest of all others: anybody can write megabytes of
 * those. One without a status (before Byzantium) cannot be judged, so it is not a valid answer,
 * and neither is one in which a log stands twice, or none although its bloom tells of some.
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

/** A transaction's name and sender, or null. */
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

/** A transaction's name and what it calls, or null. Calldata of more than 4 KiB is left out. */
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

/** Calldata that may name a link is shorter: ERC-20's `transfer`, a reference, and attributions. */
const calldataCharactersMax = 8_192;

/** Calldata; none of it where it is too long to name a link. */
const parseCalldata: ResultParser<Hex> = (input) => {
  const bytes = parseBytes(input);
  return bytes.length > calldataCharactersMax ? "0x" : bytes;
};

/** The names of a block's transactions, or null. */
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

/** The logs of some contracts in a receipt, and where it stands, or null. */
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

/** A whole number, exact as a JS number. */
export const parseQuantity: ResultParser<number> = (result) => {
  const count = Number(parseHex(result, quantityPattern));
  return Number.isSafeInteger(count) ? count : throwInvalidShape();
};

/** The end of the year 9999: later instants have no form that a row or an event can hold. */
const timeSecondsMax = 253_402_300_799;

const parseTimestamp: ResultParser<number> = (result) => {
  const seconds = parseQuantity(result);
  return seconds <= timeSecondsMax ? seconds : throwInvalidShape();
};

/** Whole bytes of hex, possibly none. */
export const parseBytes: ResultParser<Hex> = (result) => {
  if (typeof result !== "string" || result.length % 2 !== 0) return throwInvalidShape();
  const lowercase = result.toLowerCase();
  return isHexOfAnyLength(lowercase) ? lowercase : throwInvalidShape();
};

// Looks for the first wrong digit: matching the whole of some megabytes would overflow the stack.
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

/**
 * Newer nodes give the block's time with each of its logs; a value that is not a time counts as
 * absent.
 */
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

/** Hex of the given form, turned to lower case if a node writes it otherwise. */
const parseHex = (value: unknown, pattern: RegExp): Hex => {
  if (matchesPattern(value, pattern)) return value;
  const lowercase =
    typeof value === "string" && value.startsWith("0x") ? value.toLowerCase() : null;
  return matchesPattern(lowercase, pattern) ? lowercase : throwInvalidShape();
};

const matchesPattern = (value: unknown, pattern: RegExp): value is Hex =>
  typeof value === "string" && pattern.test(value);
