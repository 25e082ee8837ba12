import { hash } from "node:crypto";
import { throwInvalidShape } from "../../rpc/parse-result.ts";

/** A transaction output: its value in satoshis, and its scriptPubKey in hex. */
export type BitcoinOutput = { value: bigint; script: string };

/** A transaction parsed from its raw bytes. */
export type BitcoinTransaction = {
  txid: string;
  isCoinbase: boolean;
  /** The outpoints that it spends, as `<txid>:<index>`. The list is empty for a coinbase. */
  inputs: readonly string[];
  outputs: readonly BitcoinOutput[];
};

/** An 80-byte block header. */
export type BitcoinHeader = { hash: string; parentHash: string; timestampSeconds: number };

export type BitcoinBlock = BitcoinHeader & { transactions: readonly BitcoinTransaction[] };

/**
 * Parses a block header. Throws `RpcFault` if the header's double SHA-256, in reversed byte order,
 * is not the expected hash.
 */
export const parseRawHeader = (bytes: Buffer, blockHash: string): BitcoinHeader => {
  if (bytes.length !== headerLength || toReversedHex(doubleHash(bytes)) !== blockHash)
    return throwInvalidShape();
  return {
    hash: blockHash,
    parentHash: toReversedHex(bytes.subarray(4, 36)),
    timestampSeconds: bytes.readUInt32LE(68),
  };
};

/**
 * Parses a block (BIP 144). The hash commits to every transaction, so a node cannot omit or add
 * any. Throws `RpcFault` if the bytes do not match the hash.
 */
export const parseRawBlock = (bytes: Buffer, blockHash: string): BitcoinBlock => {
  const header = parseRawHeader(bytes.subarray(0, headerLength), blockHash);
  const cursor = createCursor(bytes, headerLength);
  const count = cursor.count();
  const transactions: BitcoinTransaction[] = [];
  const hashes: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const { digest, ...transaction } = parseNextTransaction(cursor);
    // The first transaction must be a coinbase, and the others must not be.
    if (transaction.isCoinbase !== (index === 0)) return throwInvalidShape();
    transactions.push(transaction);
    hashes.push(digest);
  }
  const ids = new Set(transactions.map(({ txid }) => txid));
  // If the last transactions of a list are repeated, the Merkle root can stay the same
  // (CVE-2012-2459).
  const isComplete = cursor.isAtEnd() && count > 0 && ids.size === count;
  const root = bytes.subarray(36, 68);
  return isComplete && computeMerkleRoot(hashes).equals(root)
    ? { ...header, transactions }
    : throwInvalidShape();
};

/** Parses a transaction. Throws `RpcFault` if its id is not the expected one. */
export const parseRawTransaction = (bytes: Buffer, txid: string): BitcoinTransaction => {
  const cursor = createCursor(bytes, 0);
  const { digest: _, ...transaction } = parseNextTransaction(cursor);
  return cursor.isAtEnd() && transaction.txid === txid ? transaction : throwInvalidShape();
};

const headerLength = 80;
const hashLength = 32;
/** 21 million coins. */
const valueMax = 2_100_000_000_000_000n;
const nullOutputIndex = 0xff_ff_ff_ff;

type Cursor = ReturnType<typeof createCursor>;

/** Creates a cursor over bytes that throws when it is read past the end. */
const createCursor = (bytes: Buffer, start: number) => {
  let offset = start;
  const take = (length: number): Buffer => {
    if (length > bytes.length - offset) return throwInvalidShape();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const count = (): number => {
    const firstByte = take(1)[0] ?? 0;
    if (firstByte < 0xfd) return firstByte;
    if (firstByte === 0xfd) return take(2).readUInt16LE();
    if (firstByte === 0xfe) return take(4).readUInt32LE();
    const longCount = take(8).readBigUInt64LE();
    return longCount > BigInt(bytes.length) ? throwInvalidShape() : Number(longCount);
  };
  return {
    take,
    /** Reads a CompactSize integer: the number of items that follow. */
    count,
    position: () => offset,
    bytesSince: (start: number) => bytes.subarray(start, offset),
    /** Returns the next two bytes without advancing. */
    peek: () => (offset + 2 > bytes.length ? throwInvalidShape() : bytes.readUInt16BE(offset)),
    isAtEnd: () => offset === bytes.length,
  };
};

/** BIP 144 marks a SegWit transaction with an input count of 0, followed by a flag of 1. */
const segwitMarker = 0x00_01;

const parseNextTransaction = (cursor: Cursor): BitcoinTransaction & { digest: Buffer } => {
  const version = cursor.take(4);
  const hasWitness = cursor.peek() === segwitMarker;
  if (hasWitness) cursor.take(2);
  const bodyStart = cursor.position();
  const { inputs, isCoinbase, count } = parseInputs(cursor);
  const outputs = parseOutputs(cursor);
  const body = cursor.bytesSince(bodyStart);
  if (hasWitness) skipWitnesses(cursor, count);
  const lockTime = cursor.take(4);
  const digest = doubleHash(Buffer.concat([version, body, lockTime]));
  return { txid: toReversedHex(digest), isCoinbase, inputs, outputs, digest };
};

const parseInputs = (cursor: Cursor) => {
  const count = cursor.count();
  if (count === 0) return throwInvalidShape();
  const inputs: string[] = [];
  let isCoinbase = false;
  for (let inputIndex = 0; inputIndex < count; inputIndex += 1) {
    const previousTxid = cursor.take(hashLength);
    const index = cursor.take(4).readUInt32LE();
    cursor.take(cursor.count());
    cursor.take(4);
    if (index === nullOutputIndex)
      isCoinbase = count === 1 && previousTxid.every((byte) => byte === 0);
    else inputs.push(`${toReversedHex(previousTxid)}:${index}`);
  }
  return isCoinbase || inputs.length === count
    ? { inputs, isCoinbase, count }
    : throwInvalidShape();
};

const parseOutputs = (cursor: Cursor): readonly BitcoinOutput[] => {
  const outputs: BitcoinOutput[] = [];
  const count = cursor.count();
  for (let outputIndex = 0; outputIndex < count; outputIndex += 1) {
    const value = cursor.take(8).readBigUInt64LE();
    if (value > valueMax) return throwInvalidShape();
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

/** Bitcoin displays hashes with their bytes in reverse order. */
const toReversedHex = (digest: Buffer): string => Buffer.from(digest).reverse().toString("hex");

const computeMerkleRoot = (leaves: readonly Buffer[]): Buffer => {
  let level = leaves;
  while (level.length > 1) {
    const pairs: Buffer[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] ?? throwInvalidShape();
      pairs.push(doubleHash(Buffer.concat([left, level[index + 1] ?? left])));
    }
    level = pairs;
  }
  return level[0] ?? throwInvalidShape();
};
