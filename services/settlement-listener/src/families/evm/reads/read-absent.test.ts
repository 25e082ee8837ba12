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
const otherBlock: Hex = `0x${"34".repeat(32)}`;

/** A transaction that nobody knows, as seen in a block that lost. */
const lost = (blockNumber: number) => ({
  transactionHash: unknown,
  blockNumber,
  blockHash: otherBlock,
});

const blockHashOf = async (number: number): Promise<Hex> => {
  const block = await paid.chain.ask("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);
  return (block as { hash: Hex }).hash;
};

const range = (fromBlock: number) => ({ fromBlock, toBlock: paid.lastBlock });

describe("which transactions are in no block", () => {
  test("are those that a node does not know while it has the whole range, in one request", async () => {
    const { reader, rpc } = await open();
    const [first] = paid.paid.map(({ hash }) => hash);
    if (first === undefined) throw new Error("nobody has paid");
    const known = { ...lost(paid.firstBlock), transactionHash: first };
    const absent = await reader.readAbsent([lost(paid.firstBlock), known], range(paid.firstBlock));
    expect([...absent]).toEqual([unknown]);
    // One for the chain's id, three for the blocks at both ends.
    expect(rpc.counts().requests).toBe(5);
    expect(rpc.counts().methods.get("eth_getTransactionReceipt")).toBe(4);
  });

  test("are none by a node that has pruned the oldest receipts (rule CHAIN-5)", async () => {
    const { reader, rpc } = await open();
    const { firstBlock, lastBlock } = paid;
    const pruned = rpc.play({ kind: "no_receipts", beforeBlock: firstBlock + 1 });
    expect(await reader.readAbsent([lost(firstBlock)], range(firstBlock))).toEqual(new Set());
    // What is above is all that may hold it, and is known.
    const above = await reader.readAbsent([lost(firstBlock)], range(firstBlock + 1));
    expect(above).toEqual(new Set([unknown]));
    pruned.stop();
    rpc.play({ kind: "no_receipts", beforeBlock: lastBlock + 1 });
    expect(await reader.readAbsent([lost(firstBlock)], range(firstBlock + 1))).toEqual(new Set());
  });

  test.each([[["eth_getTransactionReceipt"]], [["eth_getBlockByNumber"]]])(
    "are none by a node whose answers to %s lag behind the end of the range (rule CHAIN-5)",
    async (methods) => {
      const { reader, rpc } = await open();
      rpc.play({ kind: "stale_head", blockCount: 1 }, { methods });
      const absent = await reader.readAbsent([lost(paid.firstBlock)], range(paid.firstBlock));
      expect(absent).toEqual(new Set());
    },
  );

  test("is none that the block in which it was seen still holds, whatever its receipt says (rule CHAIN-5)", async () => {
    const { reader, rpc } = await open();
    const { firstBlock } = paid;
    const blockHash = await blockHashOf(firstBlock);
    const [, second] = paid.paid.map(({ hash }) => hash);
    if (second === undefined) throw new Error("nobody has paid");
    const spoil = (reply: unknown): string =>
      JSON.stringify(reply, (_key, value: unknown) => {
        const isIts =
          typeof value === "object" &&
          value !== null &&
          (value as { transactionHash?: unknown }).transactionHash === second &&
          "logs" in value;
        return isIts ? null : value;
      });
    rpc.play({ kind: "hostile", spoil });
    const asked = [{ transactionHash: second, blockNumber: firstBlock, blockHash }];
    expect(await reader.readAbsent(asked, range(firstBlock))).toEqual(new Set());
    // In the same block a transaction that its list lacks is absent.
    const listed = [{ ...lost(firstBlock), blockHash }];
    expect(await reader.readAbsent(listed, range(firstBlock))).toEqual(new Set([unknown]));
  });

  test("are none where nothing but empty blocks follow, however many", async () => {
    const { reader, rpc } = await open();
    const { lastBlock } = paid;
    expect(await reader.readAbsent([lost(lastBlock)], range(lastBlock + 1))).toEqual(new Set());
    await paid.chain.ask("anvil_mine", ["0x44c"]);
    expect(await reader.readAbsent([lost(lastBlock)], range(lastBlock + 1))).toEqual(new Set());
    expect(rpc.counts().methods.get("eth_getBlockByNumber")).toBeLessThan(1_200);
  });
});
