import { createHash } from "node:crypto";
import type { Hex } from "viem";
import type { EventLog } from "./decode-event.ts";
import type { EvmHeader, EvmReceipt, ProxyLog, TransactionCall } from "./evm-reads.ts";
import { type ReadAnswer, readArray, readObject, refuseShape } from "../../rpc/read-answer.ts";

// Catching up reads hundreds of thousands of receipts; validating by schemas was the largest part
// of its cost.

/**
 * The parts of a header that are read. As on the wire, null stands for something that is not there.
 */
export const readHeader: ReadAnswer<EvmHeader | null> = (result) => {
  if (result === null) return null;
  const header = readObject(result);
  return {
    number: readQuantity(header["number"]),
    hash: readWord(header["hash"]),
    parentHash: readWord(header["parentHash"]),
    timestampSeconds: readTime(header["timestamp"]),
    logsBloom: readHex(header["logsBloom"], bloomForm),
  };
};

/** A log and its place in the whole block, by which answers are put in order. */
export type PlacedLog = ProxyLog & { logIndex: number };

export const readPlacedLogs: ReadAnswer<(PlacedLog & { removed?: boolean | undefined })[]> = (
  result,
) => readArray(result).map(readPlacedLog);

/**
 * A receipt with the logs of some contracts, and a digest of all others: anybody can write megabytes of
 * those. One without a status (before Byzantium) cannot be judged, so it is not a valid answer,
 * and neither is one in which a log stands twice, or none although its bloom tells of some.
 */
export const readReceipt =
  (contracts: ReadonlySet<Hex>): ReadAnswer<EvmReceipt | null> =>
  (result) => {
    if (result === null) return null;
    const receipt = readObject(result);
    const status = receipt["status"];
    if (status !== "0x0" && status !== "0x1") return refuseShape();
    const logs = readArray(receipt["logs"]).map((log) => {
      const fields = readObject(log);
      return { log: readLog(fields), logIndex: readQuantity(fields["logIndex"]) };
    });
    logs.sort((a, b) => a.logIndex - b.logIndex);
    if (logs.some(({ logIndex }, index) => logIndex === logs[index - 1]?.logIndex))
      return refuseShape();
    const { logsBloom } = receipt;
    if (
      logs.length === 0 &&
      typeof logsBloom === "string" &&
      /[1-9a-f]/i.test(logsBloom.slice(2))
    ) {
      return refuseShape();
    }
    const own = logs.filter(({ log }) => contracts.has(log.address));
    const others = createHash("sha256");
    for (const one of logs) if (!contracts.has(one.log.address)) others.update(JSON.stringify(one));
    return {
      transactionHash: readWord(receipt["transactionHash"]),
      blockNumber: readQuantity(receipt["blockNumber"]),
      blockHash: readWord(receipt["blockHash"]),
      isSuccessful: status === "0x1",
      from: readHex(receipt["from"], addressForm),
      logs: own.map(({ log }) => log),
      otherLogsDigest: others.digest("hex"),
    };
  };

/** A transaction's name and sender, or null. */
export const readChainTransaction: ReadAnswer<
  { transactionHash: Hex; address: Hex; nonce: number } | null
> = (result) => {
  if (result === null) return null;
  const transaction = readObject(result);
  return {
    transactionHash: readWord(transaction["hash"]),
    address: readHex(transaction["from"], addressForm),
    nonce: readQuantity(transaction["nonce"]),
  };
};

/** A transaction's name and what it calls, or null. Calldata of more than 4 KiB is left out. */
export const readTransactionCall: ReadAnswer<
  (TransactionCall & { transactionHash: Hex }) | null
> = (result) => {
  if (result === null) return null;
  const { hash, input, to } = readObject(result);
  return {
    transactionHash: readWord(hash),
    to: to === null || to === undefined ? null : readHex(to, addressForm),
    input: readInput(input),
  };
};

/** Calldata that may name a link is shorter: ERC-20's `transfer`, a reference, and attributions. */
const inputCharactersMax = 8_192;

/** Calldata; none of it where it is too long to name a link. */
const readInput: ReadAnswer<Hex> = (input) => {
  const bytes = readBytes(input);
  return bytes.length > inputCharactersMax ? "0x" : bytes;
};

/** The names of a block's transactions, or null. */
export const readTransactionHashes: ReadAnswer<
  {
    hash: Hex;
    transactionHashes: readonly Hex[];
  } | null
> = (result) => {
  if (result === null) return null;
  const block = readObject(result);
  return {
    hash: readWord(block["hash"]),
    transactionHashes: readArray(block["transactions"]).map(readWord),
  };
};

/** The logs of some contracts in a receipt, and where it stands, or null. */
export const readLogsOfReceipt =
  (
    addresses: ReadonlySet<Hex>,
  ): ReadAnswer<{ transactionHash: Hex; blockHash: Hex; logs: readonly PlacedLog[] } | null> =>
  (result) => {
    if (result === null) return null;
    const receipt = readObject(result);
    const own = readArray(receipt["logs"]).filter((log) =>
      addresses.has(readHex(readObject(log)["address"], addressForm)),
    );
    return {
      transactionHash: readWord(receipt["transactionHash"]),
      blockHash: readWord(receipt["blockHash"]),
      logs: own.map(readPlacedLog),
    };
  };

/** A whole number, exact as a JS number. */
export const readQuantity: ReadAnswer<number> = (result) => {
  const count = Number(readHex(result, quantityForm));
  return Number.isSafeInteger(count) ? count : refuseShape();
};

/** The end of the year 9999: later instants have no form that a row or an event can hold. */
const timeSecondsMax = 253_402_300_799;

const readTime: ReadAnswer<number> = (result) => {
  const seconds = readQuantity(result);
  return seconds <= timeSecondsMax ? seconds : refuseShape();
};

/** Whole bytes of hex, possibly none. */
export const readBytes: ReadAnswer<Hex> = (result) => {
  if (typeof result !== "string" || result.length % 2 !== 0) return refuseShape();
  const lower = result.toLowerCase();
  return isHexOfAnyLength(lower) ? lower : refuseShape();
};

// Looks for the first wrong digit: matching the whole of some megabytes would overflow the stack.
const isHexOfAnyLength = (text: string): text is Hex =>
  text.startsWith("0x") && !wrongDigit.test(text.slice(2));

const wrongDigit = /[^0-9a-f]/;
const addressForm = /^0x[0-9a-f]{40}$/;
const wordForm = /^0x[0-9a-f]{64}$/;
const bloomForm = /^0x[0-9a-f]{512}$/;
const quantityForm = /^0x[0-9a-f]{1,16}$/;
const topicsMax = 4;

const readPlacedLog = (item: unknown): PlacedLog & { removed?: boolean | undefined } => {
  const fields = readObject(item);
  const { blockTimestamp, removed } = fields;
  if (removed !== undefined && typeof removed !== "boolean") return refuseShape();
  const time = readBlockTime(blockTimestamp);
  return {
    ...readLog(fields),
    blockNumber: readQuantity(fields["blockNumber"]),
    blockHash: readWord(fields["blockHash"]),
    transactionHash: readWord(fields["transactionHash"]),
    logIndex: readQuantity(fields["logIndex"]),
    ...(removed === undefined ? {} : { removed }),
    ...(time === undefined ? {} : { timestampSeconds: time }),
  };
};

/**
 * Newer nodes give the block's time with each of its logs; a value that is not a time counts as
 * absent.
 */
const readBlockTime = (value: unknown): number | undefined => {
  if (typeof value !== "string" || !quantityForm.test(value.toLowerCase())) return undefined;
  const time = Number(value);
  return time <= timeSecondsMax ? time : undefined;
};

const readLog = (fields: Readonly<Record<string, unknown>>): EventLog => {
  const topics = readArray(fields["topics"]).map(readWord);
  if (topics.length > topicsMax) return refuseShape();
  return {
    address: readHex(fields["address"], addressForm),
    topics,
    data: readBytes(fields["data"]),
  };
};

const readWord = (value: unknown): Hex => readHex(value, wordForm);

/** Hex of the given form, turned to lower case if a node writes it otherwise. */
const readHex = (value: unknown, form: RegExp): Hex => {
  if (isOfForm(value, form)) return value;
  const lower = typeof value === "string" && value.startsWith("0x") ? value.toLowerCase() : null;
  return isOfForm(lower, form) ? lower : refuseShape();
};

const isOfForm = (value: unknown, form: RegExp): value is Hex =>
  typeof value === "string" && form.test(value);
