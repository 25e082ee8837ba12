import { afterEach, describe, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
} from "../../testing/create-reader-rig.ts";

/** There are payments in the first and the fourth block. */
const setup = useRig(() => startPaidChain([2, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());
const createRig = async (): Promise<ReaderRig> => {
  rig = await createReaderRig(setup.chain);
  return rig;
};

const unknownHash: Hex = `0x${"12".repeat(32)}`;
const otherBlock: Hex = `0x${"34".repeat(32)}`;

/** Creates an unknown transaction that was last seen in an orphaned block. */
const createSeenTransaction = (blockNumber: number) => ({
  transactionHash: unknownHash,
  blockNumber,
  blockHash: otherBlock,
});

const readBlockHash = async (number: number): Promise<Hex> => {
  const block = await setup.chain.callRpc("eth_getBlockByNumber", [
    `0x${number.toString(16)}`,
    false,
  ]);
  return (block as { hash: Hex }).hash;
};

const range = (fromBlock: number) => ({ fromBlock, toBlock: setup.lastBlock });

describe("readAbsent", () => {
  test("returns unknown transactions in one request if the node has the whole range", async () => {
    const { reader, rpc } = await createRig();
    const [firstHash] = setup.paidTransactions.map(({ hash }) => hash);
    if (firstHash === undefined) throw new Error("no payment was made");
    const knownTransaction = {
      ...createSeenTransaction(setup.firstBlock),
      transactionHash: firstHash,
    };
    const absent = await reader.readAbsent(
      [createSeenTransaction(setup.firstBlock), knownTransaction],
      range(setup.firstBlock),
    );
    expect([...absent]).toEqual([unknownHash]);
    // There is one request for the chain id, three for the blocks at both ends, and one for the
    // receipts.
    expect(rpc.getCounts().requests).toBe(5);
    expect(rpc.getCounts().methods.get("eth_getTransactionReceipt")).toBe(4);
  });

  test("returns nothing if the node has pruned the oldest receipts (rule CHAIN-5)", async () => {
    const { reader, rpc } = await createRig();
    const { firstBlock, lastBlock } = setup;
    const pruned = rpc.injectFault({ kind: "no_receipts", beforeBlock: firstBlock + 1 });
    expect(await reader.readAbsent([createSeenTransaction(firstBlock)], range(firstBlock))).toEqual(
      new Set(),
    );
    // Only blocks above the one where it was seen can contain it, and the node has their receipts.
    const absentAbove = await reader.readAbsent(
      [createSeenTransaction(firstBlock)],
      range(firstBlock + 1),
    );
    expect(absentAbove).toEqual(new Set([unknownHash]));
    pruned.stop();
    rpc.injectFault({ kind: "no_receipts", beforeBlock: lastBlock + 1 });
    expect(
      await reader.readAbsent([createSeenTransaction(firstBlock)], range(firstBlock + 1)),
    ).toEqual(new Set());
  });

  test.each([[["eth_getTransactionReceipt"]], [["eth_getBlockByNumber"]]])(
    "returns nothing if the node's %s results lag behind the end of the range (rule CHAIN-5)",
    async (methods) => {
      const { reader, rpc } = await createRig();
      rpc.injectFault({ kind: "stale_head", blockCount: 1 }, { methods });
      const absent = await reader.readAbsent(
        [createSeenTransaction(setup.firstBlock)],
        range(setup.firstBlock),
      );
      expect(absent).toEqual(new Set());
    },
  );

  test("leaves out a transaction that its block still lists, whatever its receipt says (rule CHAIN-5)", async () => {
    const { reader, rpc } = await createRig();
    const { firstBlock } = setup;
    const blockHash = await readBlockHash(firstBlock);
    const [, secondHash] = setup.paidTransactions.map(({ hash }) => hash);
    if (secondHash === undefined) throw new Error("no payment was made");
    const corrupt = (reply: unknown): string =>
      JSON.stringify(reply, (_key, value: unknown) => {
        const isMatchingReceipt =
          typeof value === "object" &&
          value !== null &&
          (value as { transactionHash?: unknown }).transactionHash === secondHash &&
          "logs" in value;
        return isMatchingReceipt ? null : value;
      });
    rpc.injectFault({ kind: "hostile", corrupt });
    const seenTransactions = [{ transactionHash: secondHash, blockNumber: firstBlock, blockHash }];
    expect(await reader.readAbsent(seenTransactions, range(firstBlock))).toEqual(new Set());
    // A transaction is absent if the block does not list it.
    const seenInBlock = [{ ...createSeenTransaction(firstBlock), blockHash }];
    expect(await reader.readAbsent(seenInBlock, range(firstBlock))).toEqual(new Set([unknownHash]));
  });

  test("returns nothing if only empty blocks follow, no matter how many", async () => {
    const { reader, rpc } = await createRig();
    const { lastBlock } = setup;
    expect(
      await reader.readAbsent([createSeenTransaction(lastBlock)], range(lastBlock + 1)),
    ).toEqual(new Set());
    await setup.chain.callRpc("anvil_mine", ["0x44c"]);
    expect(
      await reader.readAbsent([createSeenTransaction(lastBlock)], range(lastBlock + 1)),
    ).toEqual(new Set());
    expect(rpc.getCounts().methods.get("eth_getBlockByNumber")).toBeLessThan(1_200);
  });
});
