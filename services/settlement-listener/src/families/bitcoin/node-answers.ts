import type { Question } from "../../rpc/json-rpc.ts";
import { type ReadAnswer, readArray, readObject, refuseShape } from "../../rpc/read-answer.ts";
import {
  type BitcoinBlock,
  type BitcoinHeader,
  type BitcoinTransaction,
  readRawBlock,
  readRawHeader,
  readRawTransaction,
} from "./read-raw.ts";

/** The newest block's number. */
export const heightQuestion: Question<number> = {
  method: "getblockcount",
  params: [],
  read: (result) => readCount(result),
};

/** The hash of a block of the node's chain; one above its head is an error. */
export const hashQuestion = (number: number): Question<string> => ({
  method: "getblockhash",
  params: [number],
  read: (result) => readHash(result),
});

/** A block's header, in bytes: also of a block that lost, where a node keeps it. */
export const headerQuestion = (hash: string): Question<BitcoinHeader> => ({
  method: "getblockheader",
  params: [hash, false],
  read: (result) => readRawHeader(readHex(result), hash),
});

/**
 * A block, in bytes: as JSON it would be up to ten times as long, differ between Bitcoin Core and
 * btcd, and have its amounts as fractions.
 */
export const blockQuestion = (hash: string): Question<BitcoinBlock> => ({
  method: "getblock",
  params: [hash, 0],
  read: (result) => readRawBlock(readHex(result), hash),
});

/** Where a block stands; undefined where it is not of the node's chain. */
export type Place = { number: number; timestampSeconds: number };

export const placeQuestion = (hash: string): Question<Place | undefined> => ({
  method: "getblockheader",
  params: [hash, true],
  read: (result) => {
    const header = readObject(result);
    if (header["hash"] !== hash) return refuseShape();
    const { confirmations } = header;
    // Bitcoin Core says -1 of a block that lost.
    if (typeof confirmations !== "number") return refuseShape();
    if (confirmations < 1) return undefined;
    return {
      number: readCount(header["height"]),
      timestampSeconds: readTime(header["time"]),
    };
  },
});

/** A transaction that a node knows, and the block in which it has it; undefined while it waits. */
export type KnownTransaction = { body: BitcoinTransaction; blockHash: string | undefined };

/** A transaction in whichever block, or waiting: one that the node does not know is an error. */
export const transactionQuestion = (txid: string): Question<KnownTransaction> => ({
  method: "getrawtransaction",
  params: [txid, 1],
  read: (result) => {
    const { blockhash, hex } = readObject(result);
    const isMined = blockhash !== undefined && blockhash !== null && blockhash !== "";
    return {
      body: readRawTransaction(readHex(hex), txid),
      blockHash: isMined ? readHash(blockhash) : undefined,
    };
  },
});

/** A transaction's bytes alone. */
export const rawTransactionQuestion = (txid: string): Question<BitcoinTransaction> => ({
  method: "getrawtransaction",
  params: [txid, 0],
  read: (result) => readRawTransaction(readHex(result), txid),
});

/** Whether an output is there and not spent, in the node's chain as it is now. */
export const unspentQuestion = (outpoint: string): Question<boolean> => {
  const [txid = "", index = ""] = outpoint.split(":");
  return {
    method: "gettxout",
    params: [txid, Number(index), false],
    read: (result) => result !== null && readObject(result) !== undefined,
  };
};

/** The ids of all transactions that wait. */
export const mempoolQuestion: Question<readonly string[]> = {
  method: "getrawmempool",
  params: [false],
  read: (result) => readArray(result).map(readHash),
};

/** A whole number, exact as a JS number, and not negative. */
const readCount: ReadAnswer<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : refuseShape();

const hashForm = /^[0-9a-f]{64}$/;

export const readHash: ReadAnswer<string> = (value) =>
  typeof value === "string" && hashForm.test(value) ? value : refuseShape();

/** Bytes as hex of whole bytes; no block has more than four million. */
const readHex: ReadAnswer<Buffer> = (value) => {
  if (typeof value !== "string" || value.length > hexDigitsMax) return refuseShape();
  const bytes = Buffer.from(value, "hex");
  return bytes.length * 2 === value.length ? bytes : refuseShape();
};
const hexDigitsMax = 8_000_000;

/** A header has 32 bits for it. */
const timeSecondsMax = 0xff_ff_ff_ff;

const readTime: ReadAnswer<number> = (value) => {
  const seconds = readCount(value);
  return seconds <= timeSecondsMax ? seconds : refuseShape();
};
