import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { RawTx, Transaction } from "@scure/btc-signer";
import * as fc from "fast-check";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import { parseRawBlock, parseRawTransaction } from "./parse-raw.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

type Recorded = Record<"genesis" | "testnetCut", { hash: string; txid: string; hex: string }> & {
  bip143: { hex: string; txid: string; spends: string[] };
};
const recordedFile = new URL("recorded/blocks.json", import.meta.url);
const recorded = JSON.parse(readFileSync(recordedFile, "utf8")) as Recorded;
const toBytes = (hex: string) => Buffer.from(hex, "hex");

const bytesUpTo = (bytesMax: number) => fc.uint8Array({ maxLength: bytesMax });

/**
 * Generates transactions with any number of inputs and outputs, and scripts and witnesses of any
 * length.
 */
const transactionArbitrary = fc
  .record({
    version: fc.integer({ min: 1, max: 2 }),
    isSegwit: fc.boolean(),
    inputs: fc.array(
      fc.record({
        index: fc.nat(0xff_ff_ff_fe),
        txid: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        finalScriptSig: bytesUpTo(300),
        sequence: fc.nat(0xff_ff_ff_ff),
      }),
      { minLength: 1, maxLength: 300, size: "small" },
    ),
    outputs: fc.array(
      fc.record({ amount: fc.bigInt(0n, 2_100_000_000_000_000n), script: bytesUpTo(70_000) }),
      { maxLength: 300, size: "small" },
    ),
    witness: fc.array(bytesUpTo(600), { minLength: 1, maxLength: 5 }),
    lockTime: fc.nat(0xff_ff_ff_ff),
  })
  .map(({ isSegwit, witness, ...fields }) => ({
    ...fields,
    segwitFlag: isSegwit,
    ...(isSegwit ? { witnesses: fields.inputs.map(() => witness) } : {}),
  }));

const referenceOptions = {
  allowUnknownOutputs: true,
  allowUnknownInputs: true,
  disableScriptCheck: true,
};

describe("parseRawTransaction", () => {
  test("parses BIP 143's first example", () => {
    const { hex, spends, txid } = recorded.bip143;
    const parsed = parseRawTransaction(toBytes(hex), txid);
    expect(parsed).toMatchObject({ txid, isCoinbase: false, inputs: spends });
    expect(parsed.outputs.map(({ value }) => value)).toEqual([112_340_000n, 223_450_000n]);
    expect(parsed.outputs[0]?.script).toBe("76a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac");
  });

  test("agrees with another library on transactions of any form", () => {
    fc.assert(
      fc.property(transactionArbitrary, (transaction) => {
        const bytes = Buffer.from(RawTx.encode(transaction as never));
        const { id } = Transaction.fromRaw(bytes, referenceOptions);
        const parsed = parseRawTransaction(bytes, id);
        expect(parsed.outputs).toEqual(
          transaction.outputs.map(({ amount, script }) => ({
            value: amount,
            script: Buffer.from(script).toString("hex"),
          })),
        );
        expect(parsed.inputs).toEqual(
          transaction.inputs.map(
            ({ index, txid }) => `${Buffer.from(txid).toString("hex")}:${index}`,
          ),
        );
      }),
      getPropertyRunOptions({ soak: 300 }),
    );
  });

  test("rejects changed, truncated and extended bytes", () => {
    const bytes = toBytes(recorded.bip143.hex);
    const { txid } = recorded.bip143;
    const expectRejected = (changed: Buffer) =>
      expect(() => parseRawTransaction(changed, txid)).toThrow(RpcFault);
    for (let length = 0; length < bytes.length; length += 1)
      expectRejected(bytes.subarray(0, length));
    expectRejected(Buffer.concat([bytes, Buffer.alloc(1)]));
    // The transaction id does not cover the witness data.
    const witnessOffset = bytes.length - 4 - 110;
    for (let offset = 0; offset < witnessOffset; offset += 1) {
      const changed = Buffer.from(bytes);
      changed[offset] = (changed[offset] ?? 0) ^ 1;
      expectRejected(changed);
    }
  });

  test.each([
    ["more inputs than bytes", `01000000feffffffff${"00".repeat(50)}`],
    [
      "an impossible number of outputs",
      `0100000001${"11".repeat(36)}0000000000ff${"ff".repeat(8)}`,
    ],
    ["no inputs", "01000000000000000000"],
    ["empty bytes", ""],
  ])("rejects %s without reading further", (_, hex) => {
    expect(() => parseRawTransaction(toBytes(hex), "00".repeat(32))).toThrow(RpcFault);
  });
});

describe("parseRawBlock", () => {
  test("parses the genesis block", () => {
    const { hash, hex, txid } = recorded.genesis;
    expect(parseRawBlock(toBytes(hex), hash)).toMatchObject({
      hash,
      parentHash: "0".repeat(64),
      timestampSeconds: Date.UTC(2009, 0, 3, 18, 15, 5) / 1000,
      transactions: [{ txid, isCoinbase: true, inputs: [], outputs: [{ value: 5_000_000_000n }] }],
    });
  });

  test("rejects a block with any changed byte", () => {
    const { hash, hex } = recorded.genesis;
    const bytes = toBytes(hex);
    for (let offset = 0; offset < bytes.length; offset += 1) {
      const changed = Buffer.from(bytes);
      changed[offset] = (changed[offset] ?? 0) ^ 1;
      expect(() => parseRawBlock(changed, hash)).toThrow(RpcFault);
    }
  });

  test("rejects a block with missing transactions", () => {
    const { hash, hex } = recorded.testnetCut;
    expect(() => parseRawBlock(toBytes(hex), hash)).toThrow(RpcFault);
  });

  test("rejects a block that repeats its last transaction, although the Merkle root is the same (CVE-2012-2459)", () => {
    const { hex } = recorded.bip143;
    const coinbase = toBytes(recorded.genesis.hex).subarray(81);
    const otherTransaction = toBytes(hex);
    otherTransaction.writeUInt32LE(1, otherTransaction.length - 4);
    const createBlock = (transactions: readonly Buffer[]) => {
      const [firstHash, secondHash, thirdHash] = [coinbase, toBytes(hex), otherTransaction].map(
        toHash,
      );
      if (firstHash === undefined || secondHash === undefined || thirdHash === undefined)
        throw new Error();
      const root = hashPair(hashPair(firstHash, secondHash), hashPair(thirdHash, thirdHash));
      const header = Buffer.concat([Buffer.alloc(36), root, Buffer.alloc(12)]);
      const bytes = Buffer.concat([header, Buffer.from([transactions.length]), ...transactions]);
      return { bytes, hash: Buffer.from(doubleSha256(header)).reverse().toString("hex") };
    };
    const honestBlock = createBlock([coinbase, toBytes(hex), otherTransaction]);
    expect(parseRawBlock(honestBlock.bytes, honestBlock.hash).transactions).toHaveLength(3);
    const duplicatedBlock = createBlock([
      coinbase,
      toBytes(hex),
      otherTransaction,
      otherTransaction,
    ]);
    expect(duplicatedBlock.hash).toBe(honestBlock.hash);
    expect(() => parseRawBlock(duplicatedBlock.bytes, duplicatedBlock.hash)).toThrow(RpcFault);
  });
});

const doubleSha256 = (bytes: Buffer): Buffer =>
  createHash("sha256").update(createHash("sha256").update(bytes).digest()).digest();
const hashPair = (left: Buffer, right: Buffer): Buffer =>
  doubleSha256(Buffer.concat([left, right]));
const toHash = (bytes: Buffer): Buffer =>
  Buffer.from(Transaction.fromRaw(bytes, referenceOptions).id, "hex").reverse();
