import { hash } from "node:crypto";
import type { Block, Spending, Transaction } from "./block.ts";

/** Bitcoin's first block, by which its nodes are known. */
export const genesis = {
  hash: "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
  bytes: Buffer.from(
    "01000000000000000000000000000000000000000000000000000000000000000000" +
      "00003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" +
      "29ab5f49ffff001d1dac2b7c01010000000100000000000000000000000000000000" +
      "00000000000000000000000000000000ffffffff4d04ffff001d0104455468652054" +
      "696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e20627269" +
      "6e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff" +
      "0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e039" +
      "09a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d57" +
      "8a4c702b6bf11d5fac00000000",
    "hex",
  ),
};
const headerBytes = 80;

const doubleHash = (bytes: Buffer): Buffer =>
  hash("sha256", hash("sha256", bytes, "buffer"), "buffer");
/** Hashes are told backwards. */
const toId = (hashed: Buffer): string => Buffer.from(hashed).reverse().toString("hex");
const fromId = (id: string): Buffer => Buffer.from(id, "hex").reverse();

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const number64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
/** A number of things that follow (CompactSize). */
const count = (value: number): Buffer => {
  if (value < 0xfd) return Buffer.from([value]);
  if (value > 0xff_ff) return Buffer.concat([Buffer.from([0xfe]), number32(value)]);
  return Buffer.from([0xfd, value % 256, Math.floor(value / 256)]);
};
const counted = (bytes: Buffer): Buffer => Buffer.concat([count(bytes.length), bytes]);
const list = (items: readonly Buffer[]): Buffer => Buffer.concat([count(items.length), ...items]);

const version = number32(2);
const lockTime = number32(0);
const sequence = number32(0xff_ff_ff_fd);
const witnessOf = (ballastBytes: number): Buffer =>
  list([
    counted(Buffer.alloc(71, 0x30)),
    counted(Buffer.alloc(33, 0x02)),
    ...(ballastBytes === 0 ? [] : [counted(Buffer.alloc(ballastBytes, 0x01))]),
  ]);

const bodyOf = ({ inputs, outputs }: Spending): Buffer =>
  Buffer.concat([
    list(
      inputs.map((outpoint) => {
        const [id = "", index] = outpoint.split(":");
        return Buffer.concat([fromId(id), number32(Number(index)), count(0), sequence]);
      }),
    ),
    list(
      outputs.map(({ script, units }) =>
        Buffer.concat([number64(units), counted(Buffer.from(script, "hex"))]),
      ),
    ),
  ]);

/** A transaction with its witnesses (BIP 144). The first witness holds the ballast. */
export const bytesOfTransaction = ({
  ballastBytes = 0,
  ...spending
}: Spending & { ballastBytes?: number }): Buffer =>
  Buffer.concat([
    version,
    Buffer.from([0, 1]),
    bodyOf(spending),
    ...spending.inputs.map((_, index) => witnessOf(index === 0 ? ballastBytes : 0)),
    lockTime,
  ]);

/** A transaction's id: witnesses are no part of it. */
export const idOfTransaction = (spending: Spending): string =>
  toId(doubleHash(Buffer.concat([version, bodyOf(spending), lockTime])));

/** The first transaction of a block, which no other block has: it pays nobody who is known. */
export const coinbaseOf = ({ drawn }: Pick<Block, "drawn">): { hash: string; bytes: Buffer } => {
  const input = [Buffer.alloc(32), number32(0xff_ff_ff_ff), counted(number32(drawn)), sequence];
  const output = [number64(0), counted(Buffer.from([0x51]))];
  const body = [list([Buffer.concat(input)]), list([Buffer.concat(output)])];
  const bytes = Buffer.concat([version, ...body, lockTime]);
  return { hash: toId(doubleHash(bytes)), bytes };
};

const merkleRoot = (ids: readonly string[]): Buffer => {
  let row = ids.map(fromId);
  while (row.length > 1) {
    const pairs = Array.from({ length: Math.ceil(row.length / 2) }, (_, at) => {
      const [left, right] = row.slice(at * 2, at * 2 + 2);
      return [left, right ?? left].filter((one) => one !== undefined);
    });
    row = pairs.map((pair) => doubleHash(Buffer.concat(pair)));
  }
  return row[0] ?? Buffer.alloc(32);
};

/** What a block's bytes tell. */
type Told = {
  block: Pick<Block, "drawn" | "number" | "timestampSeconds">;
  parentHash: string;
  transactions: readonly Pick<Transaction, "hash">[];
  /** Of two blocks that are alike otherwise. */
  nonce: number;
};

export const bytesOfHeader = ({ block, nonce, parentHash, transactions }: Told): Buffer =>
  block.number === 0
    ? genesis.bytes.subarray(0, headerBytes)
    : Buffer.concat([
        version,
        fromId(parentHash),
        merkleRoot([coinbaseOf(block).hash, ...transactions.map((one) => one.hash)]),
        number32(block.timestampSeconds),
        number32(0x1d_00_ff_ff),
        number32(nonce),
      ]);

export const hashOfHeader = (bytes: Buffer): string => toId(doubleHash(bytes));

/** A block's bytes behind its header. */
export const bytesOfBody = (
  block: Pick<Block, "drawn" | "number">,
  transactions: readonly Spending[],
): Buffer =>
  block.number === 0
    ? genesis.bytes.subarray(headerBytes)
    : list([coinbaseOf(block).bytes, ...transactions.map(bytesOfTransaction)]);
