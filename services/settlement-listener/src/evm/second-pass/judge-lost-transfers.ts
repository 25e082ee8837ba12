import type { Hex } from "viem";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { judgeLost } from "../../domain/judge-lost.ts";
import type { FinalityLines } from "../../domain/plan-scan.ts";
import { listLost } from "../../store/chain-transfers.ts";
import type { Lead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader, TransactionReceipt } from "../rpc/chain-reader.ts";
import { commitOutcomes } from "../transfers/commit-outcomes.ts";
import { findAgain, readTimes } from "../transfers/find-transfers.ts";

const pageCountMax = 100;
const pagesMax = 50;

/**
 * Judges the payments that a reorg took away before they settled, each time that more of the chain
 * is final: which of them can no longer come back (rule CHAIN-5). A failure is for ever, so a
 * second provider, where there is one, must know of no receipt either.
 */
export const judgeLostTransfers = async (
  watch: WatchContext,
  lead: Lead,
  lines: FinalityLines,
): Promise<void> => {
  let afterHash = "";
  for (let page = 0; page < pagesMax; page += 1) {
    const lost = await listLost(watch.pool, watch.chain.id, { afterHash, countMax: pageCountMax });
    const last = lost.at(-1);
    if (last === undefined) return;
    await judgePage(watch, lead, { lost, lines });
    if (lost.length < pageCountMax) return;
    afterHash = last.transactionHash;
  }
};

const judgePage = async (
  watch: WatchContext,
  lead: Lead,
  { lost, lines }: { lost: readonly StoredTransfer[]; lines: FinalityLines },
): Promise<void> => {
  // They are read before the receipts: a transaction that is mined in between has a receipt then.
  const usedNonces = await readUsedNonces(watch.reader, lost, lines.final);
  const receipts = await readAllReceipts(watch, lost);
  const settled: ChainTransfer[] = [];
  const failed: StoredTransfer[] = [];
  for (const stored of lost) {
    const receipt = receipts.get(stored.transactionHash as Hex);
    const found = receipt === undefined ? undefined : findAgain(watch, stored, receipt, lines);
    const judgement = judgeLost({
      finalizedTo: lines.final,
      receipt:
        receipt === undefined
          ? undefined
          : { blockNumber: receipt.blockNumber, holdsTransfer: found !== undefined },
      nonce: stored.nonce,
      usedNonces: usedNonces.get(stored.sender) ?? 0,
    });
    if (judgement === "failed") failed.push(stored);
    if (judgement === "found" && found !== undefined) {
      const times = await readTimes(watch.reader, [found]);
      settled.push({ ...found, occurredAt: times.get(found.blockNumber) ?? found.occurredAt });
    }
  }
  await commitOutcomes(watch, lead, { settled, failed });
};

const readUsedNonces = async (
  reader: ChainReader,
  lost: readonly StoredTransfer[],
  finalizedTo: number,
): Promise<ReadonlyMap<string, number>> => {
  const senders = [...new Set(lost.map(({ sender }) => sender as Hex))];
  const used = await Promise.all(
    senders.map((sender) => reader.readUsedNonces(sender, finalizedTo)),
  );
  return new Map(senders.map((sender, index) => [sender, used[index] ?? 0]));
};

const readAllReceipts = async (
  { auditor, reader }: WatchContext,
  lost: readonly StoredTransfer[],
): Promise<ReadonlyMap<Hex, TransactionReceipt>> => {
  const hashes = [...new Set(lost.map(({ transactionHash }) => transactionHash as Hex))];
  const receipts = await reader.readReceipts(hashes);
  const missing = hashes.filter((hash) => !receipts.has(hash));
  if (auditor === undefined || missing.length === 0) return receipts;
  return new Map([...receipts, ...(await auditor.readReceipts(missing))]);
};
