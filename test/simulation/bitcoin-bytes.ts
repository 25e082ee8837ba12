import { hash } from "node:crypto";
import { CompactSize, RawTx } from "@scure/btc-signer";
import type { Block, TransactionBody, Transaction } from "./block.ts";

/** Bitcoin's genesis block. It identifies the network of a node. */
export const genesisBlock = {
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
const headerLength = 80;

const doubleHash = (bytes: Buffer): Buffer =>
  hash("sha256", hash("sha256", bytes, "buffer"), "buffer");
/** Hashes are displayed with reversed bytes. */
const toHexId = (digest: Buffer): string => Buffer.from(digest).reverse().toString("hex");
const fromHexId = (id: string): Buffer => Buffer.from(id, "hex").reverse();

const encodeUint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

type RawTransaction = Parameters<typeof RawTx.encode>[0];

const version = 2;
const sequence = 0xff_ff_ff_fd;

const encodeTransaction = (
  fields: Pick<RawTransaction, "inputs" | "outputs" | "witnesses">,
): Buffer => {
  const segwitFlag = fields.witnesses !== undefined;
  return Buffer.from(RawTx.encode({ version, segwitFlag, lockTime: 0, ...fields }));
};

const toRawBody = ({ inputs, outputs }: TransactionBody) => ({
  inputs: inputs.map((outpoint) => {
    const [id = "", index] = outpoint.split(":");
    const txid = Buffer.from(id, "hex");
    return { txid, index: Number(index), finalScriptSig: Buffer.alloc(0), sequence };
  }),
  outputs: outputs.map(({ script, baseUnits }) => ({
    amount: BigInt(baseUnits),
    script: Buffer.from(script, "hex"),
  })),
});

/**
 * Serializes a transaction with its witnesses (BIP 144). The first witness contains the padding.
 */
export const serializeTransaction = ({
  paddingBytes = 0,
  ...transactionBody
}: TransactionBody & { paddingBytes?: number }): Buffer =>
  encodeTransaction({
    ...toRawBody(transactionBody),
    witnesses: transactionBody.inputs.map((_, index) => [
      Buffer.alloc(71, 0x30),
      Buffer.alloc(33, 0x02),
      ...(index > 0 || paddingBytes === 0 ? [] : [Buffer.alloc(paddingBytes, 0x01)]),
    ]),
  });

/** Returns a transaction's ID, which does not depend on the witnesses. */
export const computeTransactionId = (transactionBody: TransactionBody): string =>
  toHexId(doubleHash(encodeTransaction(toRawBody(transactionBody))));

/** Returns a block's unique coinbase transaction. It does not pay a known script. */
export const createCoinbase = ({
  sequenceNumber,
}: Pick<Block, "sequenceNumber">): { hash: string; bytes: Buffer } => {
  const finalScriptSig = encodeUint32(sequenceNumber);
  const bytes = encodeTransaction({
    inputs: [{ txid: Buffer.alloc(32), index: 0xff_ff_ff_ff, finalScriptSig, sequence }],
    outputs: [{ amount: 0n, script: Buffer.from([0x51]) }],
  });
  return { hash: toHexId(doubleHash(bytes)), bytes };
};

const computeMerkleRoot = (ids: readonly string[]): Buffer => {
  let hashes = ids.map(fromHexId);
  while (hashes.length > 1) {
    const pairs = Array.from({ length: Math.ceil(hashes.length / 2) }, (_, pairIndex) => {
      const [left, right] = hashes.slice(pairIndex * 2, pairIndex * 2 + 2);
      return [left, right ?? left].filter((childHash) => childHash !== undefined);
    });
    hashes = pairs.map((pair) => doubleHash(Buffer.concat(pair)));
  }
  return hashes[0] ?? Buffer.alloc(32);
};

/** The fields from which a block header is built. */
type HeaderFields = {
  block: Pick<Block, "sequenceNumber" | "number" | "timestampSeconds">;
  parentHash: string;
  transactions: readonly Pick<Transaction, "hash">[];
  /** Distinguishes two otherwise identical blocks. */
  nonce: number;
};

export const serializeHeader = ({ block, nonce, parentHash, transactions }: HeaderFields): Buffer =>
  block.number === 0
    ? genesisBlock.bytes.subarray(0, headerLength)
    : Buffer.concat([
        encodeUint32(version),
        fromHexId(parentHash),
        computeMerkleRoot([
          createCoinbase(block).hash,
          ...transactions.map((transaction) => transaction.hash),
        ]),
        encodeUint32(block.timestampSeconds),
        encodeUint32(0x1d_00_ff_ff),
        encodeUint32(nonce),
      ]);

export const hashHeader = (bytes: Buffer): string => toHexId(doubleHash(bytes));

/** Serializes the part of a block after its header. */
export const serializeBlockBody = (
  block: Pick<Block, "sequenceNumber" | "number">,
  transactions: readonly TransactionBody[],
): Buffer =>
  block.number === 0
    ? genesisBlock.bytes.subarray(headerLength)
    : Buffer.concat([
        CompactSize.encode(BigInt(transactions.length + 1)),
        createCoinbase(block).bytes,
        ...transactions.map(serializeTransaction),
      ]);
