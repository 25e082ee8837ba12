import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { RawTx, Transaction } from "@scure/btc-signer";
import * as fc from "fast-check";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import { readRawBlock, readRawTransaction } from "./read-raw.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

type Recorded = Record<"genesis" | "testnetCut", { hash: string; txid: string; hex: string }> & {
  bip143: { hex: string; txid: string; spends: string[] };
};
const file = new URL("../../testing/bitcoin/recorded/blocks.json", import.meta.url);
const recorded = JSON.parse(readFileSync(file, "utf8")) as Recorded;
const bytesOf = (hex: string) => Buffer.from(hex, "hex");

const someBytes = (bytesMax: number) => fc.uint8Array({ maxLength: bytesMax });

/** Transactions of any form that has inputs, with scripts and witnesses of any length. */
const anyTransaction = fc
  .record({
    version: fc.integer({ min: 1, max: 2 }),
    isSegwit: fc.boolean(),
    inputs: fc.array(
      fc.record({
        index: fc.nat(0xff_ff_ff_fe),
        txid: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        finalScriptSig: someBytes(300),
        sequence: fc.nat(0xff_ff_ff_ff),
      }),
      { minLength: 1, maxLength: 300, size: "small" },
    ),
    outputs: fc.array(
      fc.record({ amount: fc.bigInt(0n, 2_100_000_000_000_000n), script: someBytes(70_000) }),
      { maxLength: 300, size: "small" },
    ),
    witness: fc.array(someBytes(600), { minLength: 1, maxLength: 5 }),
    lockTime: fc.nat(0xff_ff_ff_ff),
  })
  .map(({ isSegwit, witness, ...rest }) => ({
    ...rest,
    segwitFlag: isSegwit,
    ...(isSegwit ? { witnesses: rest.inputs.map(() => witness) } : {}),
  }));

const oracle = { allowUnknownOutputs: true, allowUnknownInputs: true, disableScriptCheck: true };

describe("a transaction's bytes", () => {
  test("mean what BIP 143's first example says", () => {
    const { hex, spends, txid } = recorded.bip143;
    const read = readRawTransaction(bytesOf(hex), txid);
    expect(read).toMatchObject({ txid, isCoinbase: false, inputs: spends });
    expect(read.outputs.map(({ value }) => value)).toEqual([112_340_000n, 223_450_000n]);
    expect(read.outputs[0]?.script).toBe("76a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac");
  });

  test("mean what another library reads, whatever their form", () => {
    fc.assert(
      fc.property(anyTransaction, (made) => {
        const bytes = Buffer.from(RawTx.encode(made as never));
        const { id } = Transaction.fromRaw(bytes, oracle);
        const read = readRawTransaction(bytes, id);
        expect(read.outputs).toEqual(
          made.outputs.map(({ amount, script }) => ({
            value: amount,
            script: Buffer.from(script).toString("hex"),
          })),
        );
        expect(read.inputs).toEqual(
          made.inputs.map(({ index, txid }) => `${Buffer.from(txid).toString("hex")}:${index}`),
        );
      }),
      propertyRuns({ soak: 300 }),
    );
  });

  test("are refused where anything in them is changed, cut off or added", () => {
    const bytes = bytesOf(recorded.bip143.hex);
    const { txid } = recorded.bip143;
    const refuses = (changed: Buffer) =>
      expect(() => readRawTransaction(changed, txid)).toThrow(RpcFault);
    for (let length = 0; length < bytes.length; length += 1) refuses(bytes.subarray(0, length));
    refuses(Buffer.concat([bytes, Buffer.alloc(1)]));
    // Of a witness the id says nothing.
    const witnessAt = bytes.length - 4 - 110;
    for (let at = 0; at < witnessAt; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      refuses(changed);
    }
  });

  test.each([
    ["more inputs than bytes", `01000000feffffffff${"00".repeat(50)}`],
    ["a number of outputs beyond any", `0100000001${"11".repeat(36)}0000000000ff${"ff".repeat(8)}`],
    ["no inputs", "01000000000000000000"],
    ["nothing", ""],
  ])("are refused at once: %s", (_, hex) => {
    expect(() => readRawTransaction(bytesOf(hex), "00".repeat(32))).toThrow(RpcFault);
  });
});

describe("a block's bytes", () => {
  test("are those of its hash", () => {
    const { hash, hex, txid } = recorded.genesis;
    expect(readRawBlock(bytesOf(hex), hash)).toMatchObject({
      hash,
      parentHash: "0".repeat(64),
      timestampSeconds: Date.UTC(2009, 0, 3, 18, 15, 5) / 1000,
      transactions: [{ txid, isCoinbase: true, inputs: [], outputs: [{ value: 5_000_000_000n }] }],
    });
  });

  test("are refused where a byte of what is paid is another one", () => {
    const { hash, hex } = recorded.genesis;
    const bytes = bytesOf(hex);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => readRawBlock(changed, hash)).toThrow(RpcFault);
    }
  });

  test("are refused where transactions are left out", () => {
    const { hash, hex } = recorded.testnetCut;
    expect(() => readRawBlock(bytesOf(hex), hash)).toThrow(RpcFault);
  });

  test("are refused where the last transaction is told twice, although the root is the same (CVE-2012-2459)", () => {
    const { hex } = recorded.bip143;
    const coinbase = bytesOf(recorded.genesis.hex).subarray(81);
    const other = bytesOf(hex);
    other.writeUInt32LE(1, other.length - 4);
    const blockOf = (transactions: readonly Buffer[]) => {
      const [first, second, third] = [coinbase, bytesOf(hex), other].map(hashOf);
      if (first === undefined || second === undefined || third === undefined) throw new Error();
      const root = pair(pair(first, second), pair(third, third));
      const header = Buffer.concat([Buffer.alloc(36), root, Buffer.alloc(12)]);
      const bytes = Buffer.concat([header, Buffer.from([transactions.length]), ...transactions]);
      return { bytes, hash: Buffer.from(twice(header)).reverse().toString("hex") };
    };
    const honest = blockOf([coinbase, bytesOf(hex), other]);
    expect(readRawBlock(honest.bytes, honest.hash).transactions).toHaveLength(3);
    const doubled = blockOf([coinbase, bytesOf(hex), other, other]);
    expect(doubled.hash).toBe(honest.hash);
    expect(() => readRawBlock(doubled.bytes, doubled.hash)).toThrow(RpcFault);
  });
});

const twice = (bytes: Buffer): Buffer =>
  createHash("sha256").update(createHash("sha256").update(bytes).digest()).digest();
const pair = (left: Buffer, right: Buffer): Buffer => twice(Buffer.concat([left, right]));
const hashOf = (bytes: Buffer): Buffer =>
  Buffer.from(Transaction.fromRaw(bytes, oracle).id, "hex").reverse();
