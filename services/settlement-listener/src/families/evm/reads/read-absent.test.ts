import { afterEach, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type ReaderRig, openPaidChain, openReaderRig } from "../../../testing/open-reader-rig.ts";

/** Payments in the first and in the fourth block. */
const paid = useRig(() => openPaidChain([2, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());
const open = async (): Promise<ReaderRig> => {
  rig = await openReaderRig(paid.chain);
  return rig;
};

const unknown: Hex = `0x${"12".repeat(32)}`;

describe("which transactions are in no block", () => {
  test("is told of those that a node does not know while it tells of older ones, in one request", async () => {
    const { reader, rpc } = await open();
    const [first] = paid.paid.map(({ hash }) => hash);
    if (first === undefined) throw new Error("nobody has paid");
    const absent = await reader.readAbsent([unknown, first], paid.firstBlock);
    expect([...absent]).toEqual([unknown]);
    // One for the chain's id, one for the block.
    expect(rpc.counts().requests).toBe(3);
    expect(rpc.counts().methods.get("eth_getTransactionReceipt")).toBe(3);
  });

  test("is told of none by a node that has forgotten what is as old (rule CHAIN-5)", async () => {
    const { reader, rpc } = await open();
    const forgetting = rpc.play({ kind: "no_receipts", beforeBlock: paid.firstBlock + 1 });
    expect(await reader.readAbsent([unknown], paid.firstBlock)).toEqual(new Set());
    // What is above is all that may hold it, and is known.
    expect(await reader.readAbsent([unknown], paid.firstBlock + 1)).toEqual(new Set([unknown]));
    forgetting.stop();
    rpc.play({ kind: "no_receipts", beforeBlock: paid.lastBlock + 1 });
    expect(await reader.readAbsent([unknown], paid.firstBlock + 1)).toEqual(new Set());
  });

  test("is told of none where nothing but empty blocks follow, however many", async () => {
    const { reader, rpc } = await open();
    expect(await reader.readAbsent([unknown], paid.lastBlock + 1)).toEqual(new Set());
    await paid.chain.ask("anvil_mine", ["0x44c"]);
    expect(await reader.readAbsent([unknown], paid.lastBlock + 1)).toEqual(new Set());
    expect(rpc.counts().methods.get("eth_getBlockByNumber")).toBeLessThan(1_200);
  });
});
