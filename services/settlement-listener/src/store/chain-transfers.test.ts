import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Transfer } from "../domain/transfer.ts";
import { recordTransfers } from "../payment-reports/record-transfers.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { listStoredTransfers, orphanTransfers } from "./chain-transfers.ts";

const rig = useRig(createRig);

const recordAll = (...transfers: readonly Transfer[]) =>
  transact(rig.pool, (tx) => recordTransfers(tx, transfers, rig.clock.now()));

const readStoredTransfer = async ({ blockNumber, chainId, transactionHash }: Transfer) => {
  const range = { fromBlock: blockNumber, toBlock: blockNumber };
  const [storedTransfer] = await listStoredTransfers(rig.pool, chainId, {
    ...range,
    transactionHashes: [transactionHash],
  });
  return storedTransfer;
};

/**
 * Records a transfer, orphans it by a reorg, and records it in the next block as another provider
 * reports it.
 */
const reorgToNextBlock = async (
  firstTransfer: Partial<Transfer>,
  changesAfterReorg: Partial<Transfer>,
): Promise<{ sender: string | undefined; nonce: number | null | undefined }> => {
  const transfer = sampleTransfer({ chainId: newId("evt"), ...firstTransfer });
  await recordAll(transfer);
  await transact(rig.pool, (tx) => orphanTransfers(tx, transfer.chainId, transfer.blockNumber - 1));
  const movedTransfer = {
    ...transfer,
    blockNumber: 11,
    blockHash: `0x${"0b".repeat(32)}`,
    ...changesAfterReorg,
  };
  await recordAll(movedTransfer);
  const { nonce, sender } = (await readStoredTransfer(movedTransfer)) ?? {};
  return { nonce, sender };
};

const [honestSender, otherSender] = ["7", "6"].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
];

test("replaces a sender without a nonce by the next reader's", async () => {
  const firstSender = { sender: otherSender, nonce: undefined };
  expect(await reorgToNextBlock(firstSender, { sender: honestSender, nonce: 7 })).toEqual({
    sender: honestSender,
    nonce: 7,
  });
  expect(await reorgToNextBlock(firstSender, { sender: honestSender })).toEqual({
    sender: honestSender,
    nonce: null,
  });
});

test("keeps a known sender and nonce together if one reader alone reports another sender", async () => {
  const knownSender = { sender: honestSender, nonce: 7 };
  expect(await reorgToNextBlock(knownSender, { sender: otherSender, nonce: undefined })).toEqual(
    knownSender,
  );
  expect(await reorgToNextBlock(knownSender, { sender: otherSender, nonce: 9 })).toEqual({
    sender: otherSender,
    nonce: 9,
  });
});

// On Bitcoin, the sender field lists the transactions that a payment depends on. A mempool
// transaction shows more of them than a receipt does.
test("keeps the dependencies stored in a sender if a receipt shows fewer", async () => {
  const mempoolSender = { sender: "one:0;two=three:1", nonce: 0 };
  expect(await reorgToNextBlock(mempoolSender, { sender: "one:0", nonce: 0 })).toEqual(
    mempoolSender,
  );
});
