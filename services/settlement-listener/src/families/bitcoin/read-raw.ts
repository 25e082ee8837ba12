import { hash } from "node:crypto";
import { refuseShape } from "../../rpc/read-answer.ts";

/** An output: its value in the smallest unit, and its scriptPubKey in hex. */
export type BitcoinOutput = { value: bigint; script: string };

/** A transaction, as its own bytes tell it. */
export type BitcoinTransaction = {
  txid: string;
  isCoinbase: boolean;
  /** What it spends, as `<txid>:<index>`: none of a coinbase. */
  inputs: readonly string[];
  outputs: readonly BitcoinOutput[];
};

/** A block's header of 80 bytes. */
export type BitcoinHeader = { hash: string; parentHash: string; timestampSeconds: number };

export type BitcoinBlock = BitcoinHeader & { transactions: readonly BitcoinTransaction[] };

/**
 * Reads a header; throws `RpcFault` where these are not the bytes of that hash (BIP and protocol:
 * double SHA-256, told backwards).
 */
export const readRawHeader = (bytes: Buffer, blockHash: string): BitcoinHeader => {
  if (bytes.length !== headerBytes || toId(doubleHash(bytes)) !== blockHash) return refuseShape();
  return {
    hash: blockHash,
    parentHash: toId(bytes.subarray(4, 36)),
    timestampSeconds: bytes.readUInt32LE(68),
  };
};

/**
 * Reads a block (BIP 144). Its hash vouches for all that is in it: a node can leave nothing out and
 * add nothing. Throws `RpcFault` where these are not the bytes of that hash.
 */
export const readRawBlock = (bytes: Buffer, blockHash: string): BitcoinBlock => {
  const header = readRawHeader(bytes.subarray(0, headerBytes), blockHash);
  const cursor = createCursor(bytes, headerBytes);
  const count = cursor.count();
  const transactions: BitcoinTransaction[] = [];
  const hashes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const { hashed, ...transaction } = readNext(cursor);
    // A coinbase is the first, and the first is one.
    if (transaction.isCoinbase !== (index === 0)) return refuseShape();
    transactions.push(transaction);
    hashes.push(hashed);
  }
  const ids = new Set(transactions.map(({ txid }) => txid));
  // Some lists with repeated ends have the root of the list without them (CVE-2012-2459).
  const isWhole = cursor.isAtEnd() && count > 0 && ids.size === count;
  const root = bytes.subarray(36, 68);
  return isWhole && merkleRoot(hashes).equals(root) ? { ...header, transactions } : refuseShape();
};

/** Reads a transaction; throws `RpcFault` where these are not the bytes of that id. */
export const readRawTransaction = (bytes: Buffer, txid: string): BitcoinTransaction => {
  const cursor = createCursor(bytes, 0);
  const { hashed: _, ...transaction } = readNext(cursor);
  return cursor.isAtEnd() && transaction.txid === txid ? transaction : refuseShape();
};

const headerBytes = 80;
const hashBytes = 32;
/** 21 million coins. */
const valueMax = 2_100_000_000_000_000n;
const noOutput = 0xff_ff_ff_ff;

type Cursor = ReturnType<typeof createCursor>;

/** Walks over bytes; throws at their end. */
const createCursor = (bytes: Buffer, start: number) => {
  let at = start;
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) return refuseShape();
    at += length;
    return bytes.subarray(at - length, at);
  };
  const count = (): number => {
    const first = take(1)[0] ?? 0;
    if (first < 0xfd) return first;
    if (first === 0xfd) return take(2).readUInt16LE();
    if (first === 0xfe) return take(4).readUInt32LE();
    const long = take(8).readBigUInt64LE();
    return long > BigInt(bytes.length) ? refuseShape() : Number(long);
  };
  return {
    take,
    /** A number of things that follow (CompactSize). */
    count,
    place: () => at,
    from: (place: number) => bytes.subarray(place, at),
    /** The two bytes that follow, which are not taken. */
    peek: () => (at + 2 > bytes.length ? refuseShape() : bytes.readUInt16BE(at)),
    isAtEnd: () => at === bytes.length,
  };
};

/** Zero inputs, and then that there are witnesses. */
const witnessMark = 0x00_01;

const readNext = (cursor: Cursor): BitcoinTransaction & { hashed: Buffer } => {
  const version = cursor.take(4);
  const hasWitness = cursor.peek() === witnessMark;
  if (hasWitness) cursor.take(2);
  const bodyAt = cursor.place();
  const { inputs, isCoinbase, count } = readInputs(cursor);
  const outputs = readOutputs(cursor);
  const body = cursor.from(bodyAt);
  if (hasWitness) skipWitnesses(cursor, count);
  const lockTime = cursor.take(4);
  const hashed = doubleHash(Buffer.concat([version, body, lockTime]));
  return { txid: toId(hashed), isCoinbase, inputs, outputs, hashed };
};

const readInputs = (cursor: Cursor) => {
  const count = cursor.count();
  if (count === 0) return refuseShape();
  const inputs: string[] = [];
  let isCoinbase = false;
  for (let read = 0; read < count; read += 1) {
    const spent = cursor.take(hashBytes);
    const index = cursor.take(4).readUInt32LE();
    cursor.take(cursor.count());
    cursor.take(4);
    if (index === noOutput) isCoinbase = count === 1 && spent.every((byte) => byte === 0);
    else inputs.push(`${toId(spent)}:${index}`);
  }
  return isCoinbase || inputs.length === count ? { inputs, isCoinbase, count } : refuseShape();
};

const readOutputs = (cursor: Cursor): readonly BitcoinOutput[] => {
  const outputs: BitcoinOutput[] = [];
  const count = cursor.count();
  for (let read = 0; read < count; read += 1) {
    const value = cursor.take(8).readBigUInt64LE();
    if (value > valueMax) return refuseShape();
    outputs.push({ value, script: cursor.take(cursor.count()).toString("hex") });
  }
  return outputs;
};

const skipWitnesses = (cursor: Cursor, inputCount: number): void => {
  for (let input = 0; input < inputCount; input += 1) {
    const itemCount = cursor.count();
    for (let item = 0; item < itemCount; item += 1) cursor.take(cursor.count());
  }
};

const doubleHash = (bytes: Buffer): Buffer =>
  hash("sha256", hash("sha256", bytes, "buffer"), "buffer");

/** Hashes are told backwards. */
const toId = (hashed: Buffer): string => Buffer.from(hashed).reverse().toString("hex");

const merkleRoot = (leaves: readonly Buffer[]): Buffer => {
  let row = leaves;
  while (row.length > 1) {
    const pairs: Buffer[] = [];
    for (let at = 0; at < row.length; at += 2) {
      const left = row[at] ?? refuseShape();
      pairs.push(doubleHash(Buffer.concat([left, row[at + 1] ?? left])));
    }
    row = pairs;
  }
  return row[0] ?? refuseShape();
};
