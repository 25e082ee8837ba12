import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { ChainTransfer } from "../domain/chain-transfer.ts";
import { recordTransfers } from "../sightings/record-transfers.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { listStored, orphanTransfers } from "./chain-transfers.ts";

const rig = useRig(openRig);

const record = (...transfers: readonly ChainTransfer[]) =>
  transact(rig.pool, (tx) => recordTransfers(tx, transfers, rig.clock.now()));

const readStored = async ({ blockNumber, chainId, transactionHash }: ChainTransfer) => {
  const range = { fromBlock: blockNumber, toBlock: blockNumber };
  const [stored] = await listStored(rig.pool, chainId, {
    ...range,
    transactionHashes: [transactionHash],
  });
  return stored;
};

/** A transfer that a reorg takes from its block to the next one, read there by somebody else. */
const moveTo = async (
  first: Partial<ChainTransfer>,
  again: Partial<ChainTransfer>,
): Promise<{ sender: string | undefined; nonce: number | null | undefined }> => {
  const transfer = sampleTransfer({ chainId: newId("evt"), ...first });
  await record(transfer);
  await transact(rig.pool, (tx) => orphanTransfers(tx, transfer.chainId, transfer.blockNumber - 1));
  const moved = { ...transfer, blockNumber: 11, blockHash: `0x${"0b".repeat(32)}`, ...again };
  await record(moved);
  const { nonce, sender } = (await readStored(moved)) ?? {};
  return { nonce, sender };
};

const [honest, other] = ["7", "6"].map((digit) => `0x${digit.repeat(40)}`) as [string, string];

test("a sender whose nonce nobody told is replaced by the next reader's", async () => {
  const first = { sender: other, nonce: undefined };
  expect(await moveTo(first, { sender: honest, nonce: 7 })).toEqual({ sender: honest, nonce: 7 });
  expect(await moveTo(first, { sender: honest })).toEqual({ sender: honest, nonce: null });
});

test("a sender and nonce that are known stay together, whom one reader names alone", async () => {
  const known = { sender: honest, nonce: 7 };
  expect(await moveTo(known, { sender: other, nonce: undefined })).toEqual(known);
  expect(await moveTo(known, { sender: other, nonce: 9 })).toEqual({ sender: other, nonce: 9 });
});

// On Bitcoin a transaction that waits tells more of what it depends on than its receipt does.
test("what was known of a sender beside its nonce is not lost to a receipt", async () => {
  const waiting = { sender: "one:0;two=three:1", nonce: 0 };
  expect(await moveTo(waiting, { sender: "one:0", nonce: 0 })).toEqual(waiting);
});
