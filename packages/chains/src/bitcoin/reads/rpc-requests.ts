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

/** Requests the height of the newest block. */
export const heightRequest: RpcRequest<number> = {
  method: "getblockcount",
  params: [],
  parseResult: (result) => parseCount(result),
};

/**
 * Requests the hash of the block at a height of the node's chain. A height above the head is an
 * error.
 */
export const blockHashRequest = (number: number): RpcRequest<string> => ({
  method: "getblockhash",
  params: [number],
  parseResult: (result) => parseHash(result),
});

/** Requests a block header as bytes. A node can also return headers of orphaned blocks. */
export const headerRequest = (hash: string): RpcRequest<BitcoinHeader> => ({
  method: "getblockheader",
  params: [hash, false],
  parseResult: (result) => parseRawHeader(parseHex(result), hash),
});

/**
 * Requests a block as bytes. The JSON form is up to ten times larger, differs between Bitcoin Core
 * and btcd, and contains amounts as floating-point numbers.
 */
export const blockRequest = (hash: string): RpcRequest<BitcoinBlock> => ({
  method: "getblock",
  params: [hash, 0],
  parseResult: (result) => parseRawBlock(parseHex(result), hash),
});

/** The height and time of a block on the node's current chain. */
export type CanonicalBlock = { number: number; timestampSeconds: number };

export const canonicalBlockRequest = (hash: string): RpcRequest<CanonicalBlock | undefined> => ({
  method: "getblockheader",
  params: [hash, true],
  parseResult: (result) => {
    const header = parseObject(result);
    if (header["hash"] !== hash) return throwInvalidShape();
    const { confirmations } = header;
    // Bitcoin Core reports -1 confirmations for an orphaned block.
    if (typeof confirmations !== "number") return throwInvalidShape();
    if (confirmations < 1) return undefined;
    return {
      number: parseCount(header["height"]),
      timestampSeconds: parseTimestamp(header["time"]),
    };
  },
});

/**
 * A transaction that a node knows, and the hash of its block, which is undefined while it is
 * unconfirmed.
 */
export type KnownTransaction = {
  parsedTransaction: BitcoinTransaction;
  blockHash: string | undefined;
};

/** Requests a transaction, mined or unconfirmed. An unknown transaction is an error. */
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

/** Requests only the bytes of a transaction. */
export const rawTransactionRequest = (txid: string): RpcRequest<BitcoinTransaction> => ({
  method: "getrawtransaction",
  params: [txid, 0],
  parseResult: (result) => parseRawTransaction(parseHex(result), txid),
});

/** Requests whether an output exists and is unspent on the node's current chain. */
export const unspentRequest = (outpoint: string): RpcRequest<boolean> => {
  const [txid = "", index = ""] = outpoint.split(":");
  return {
    method: "gettxout",
    params: [txid, Number(index), false],
    parseResult: (result) => result !== null && parseObject(result) !== undefined,
  };
};

/** Requests the ids of all mempool transactions. */
export const mempoolRequest: RpcRequest<readonly string[]> = {
  method: "getrawmempool",
  params: [false],
  parseResult: (result) => parseArray(result).map(parseHash),
};

/** Parses a non-negative safe integer. */
const parseCount: ResultParser<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : throwInvalidShape();

const hashPattern = /^[0-9a-f]{64}$/;

export const parseHash: ResultParser<string> = (value) =>
  typeof value === "string" && hashPattern.test(value) ? value : throwInvalidShape();

/** Parses hex with an even number of digits. No block is larger than 4 million bytes. */
const parseHex: ResultParser<Buffer> = (value) => {
  if (typeof value !== "string" || value.length > hexDigitsMax) return throwInvalidShape();
  const bytes = Buffer.from(value, "hex");
  return bytes.length * 2 === value.length ? bytes : throwInvalidShape();
};
const hexDigitsMax = 8_000_000;

/** Block headers store the time as a 32-bit integer. */
const timeSecondsMax = 0xff_ff_ff_ff;

const parseTimestamp: ResultParser<number> = (value) => {
  const seconds = parseCount(value);
  return seconds <= timeSecondsMax ? seconds : throwInvalidShape();
};
