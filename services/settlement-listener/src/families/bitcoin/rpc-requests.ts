import type { RpcRequest } from "../../rpc/json-rpc.ts";
import {
  type ResultParser,
  parseArray,
  parseObject,
  throwInvalidShape,
} from "../../rpc/parse-result.ts";
import {
  type BitcoinBlock,
  type BitcoinHeader,
  type BitcoinTransaction,
  parseRawBlock,
  parseRawHeader,
  parseRawTransaction,
} from "./parse-raw.ts";

/** The newest block's number. */
export const heightRequest: RpcRequest<number> = {
  method: "getblockcount",
  params: [],
  parseResult: (result) => parseCount(result),
};

/** The hash of a block of the node's chain; one above its head is an error. */
export const blockHashRequest = (number: number): RpcRequest<string> => ({
  method: "getblockhash",
  params: [number],
  parseResult: (result) => parseHash(result),
});

/** A block's header, in bytes: also of a block that lost, where a node keeps it. */
export const headerRequest = (hash: string): RpcRequest<BitcoinHeader> => ({
  method: "getblockheader",
  params: [hash, false],
  parseResult: (result) => parseRawHeader(parseHex(result), hash),
});

/**
 * A block, in bytes: as JSON it would be up to ten times as long, differ between Bitcoin Core and
 * btcd, and have its amounts as fractions.
 */
export const blockRequest = (hash: string): RpcRequest<BitcoinBlock> => ({
  method: "getblock",
  params: [hash, 0],
  parseResult: (result) => parseRawBlock(parseHex(result), hash),
});

/** Where a block stands; undefined where it is not of the node's chain. */
export type CanonicalBlock = { number: number; timestampSeconds: number };

export const canonicalBlockRequest = (hash: string): RpcRequest<CanonicalBlock | undefined> => ({
  method: "getblockheader",
  params: [hash, true],
  parseResult: (result) => {
    const header = parseObject(result);
    if (header["hash"] !== hash) return throwInvalidShape();
    const { confirmations } = header;
    // Bitcoin Core says -1 of a block that lost.
    if (typeof confirmations !== "number") return throwInvalidShape();
    if (confirmations < 1) return undefined;
    return {
      number: parseCount(header["height"]),
      timestampSeconds: parseTimestamp(header["time"]),
    };
  },
});

/** A transaction that a node knows, and the block in which it has it; undefined while it waits. */
export type KnownTransaction = {
  parsedTransaction: BitcoinTransaction;
  blockHash: string | undefined;
};

/** A transaction in whichever block, or waiting: one that the node does not know is an error. */
export const transactionRequest = (txid: string): RpcRequest<KnownTransaction> => ({
  method: "getrawtransaction",
  params: [txid, 1],
  parseResult: (result) => {
    const { blockhash, hex } = parseObject(result);
    const isMined = blockhash !== undefined && blockhash !== null && blockhash !== "";
    return {
      parsedTransaction: parseRawTransaction(parseHex(hex), txid),
      blockHash: isMined ? parseHash(blockhash) : undefined,
    };
  },
});

/** A transaction's bytes alone. */
export const rawTransactionRequest = (txid: string): RpcRequest<BitcoinTransaction> => ({
  method: "getrawtransaction",
  params: [txid, 0],
  parseResult: (result) => parseRawTransaction(parseHex(result), txid),
});

/** Whether an output is there and not spent, in the node's chain as it is now. */
export const unspentRequest = (outpoint: string): RpcRequest<boolean> => {
  const [txid = "", index = ""] = outpoint.split(":");
  return {
    method: "gettxout",
    params: [txid, Number(index), false],
    parseResult: (result) => result !== null && parseObject(result) !== undefined,
  };
};

/** The ids of all transactions that wait. */
export const mempoolRequest: RpcRequest<readonly string[]> = {
  method: "getrawmempool",
  params: [false],
  parseResult: (result) => parseArray(result).map(parseHash),
};

/** A whole number, exact as a JS number, and not negative. */
const parseCount: ResultParser<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : throwInvalidShape();

const hashPattern = /^[0-9a-f]{64}$/;

export const parseHash: ResultParser<string> = (value) =>
  typeof value === "string" && hashPattern.test(value) ? value : throwInvalidShape();

/** Bytes as hex of whole bytes; no block has more than four million. */
const parseHex: ResultParser<Buffer> = (value) => {
  if (typeof value !== "string" || value.length > hexDigitsMax) return throwInvalidShape();
  const bytes = Buffer.from(value, "hex");
  return bytes.length * 2 === value.length ? bytes : throwInvalidShape();
};
const hexDigitsMax = 8_000_000;

/** A header has 32 bits for it. */
const timeSecondsMax = 0xff_ff_ff_ff;

const parseTimestamp: ResultParser<number> = (value) => {
  const seconds = parseCount(value);
  return seconds <= timeSecondsMax ? seconds : throwInvalidShape();
};
