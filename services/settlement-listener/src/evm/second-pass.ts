import type { KeptTransfer, Transfer } from "../domain/transfer.ts";
import { keepTransfers } from "../sightings/keep-transfers.ts";
import { forgetUnmatched, listKept } from "../store/chain-transfers.ts";
import { findRescan, saveRescan } from "../store/rescans.ts";
import type { Transaction } from "../store/transaction.ts";
import { type Lead, lockWatch, readWatch, saveAudited } from "../store/watchers.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { ChainWatch } from "./chain-watch.ts";
import { cutLogs } from "./cut-logs.ts";
import { findTransfers, readTimes } from "./find-transfers.ts";
import { judgeLostTransfers } from "./judge-lost-transfers.ts";
import { holdsFinal } from "./reorganize.ts";

/** What the second pass of one process remembers of a chain between its runs; lost without harm. */
export type PassMemory = { judgedTo: number; forgotAtMs: number };

const forgetEveryMs = 10 * 60_000;
const unmatchedKeptMs = 24 * 60 * 60_000;
const forgottenAtOnceMax = 5_000;

/**
 * What is done over final blocks, behind the watch: an operator's rescans; every range once more, by
 * another provider where there is one; payments that a reorg took away; and forgetting what no link
 * came for. Answers whether there is more to do at once.
 */
export const runSecondPass = async (
  watch: ChainWatch,
  lead: Lead,
  memory: PassMemory,
): Promise<boolean> => {
  const { chain, pool } = watch;
  const { auditedTo, finalizedTo, haltedReason } = await readWatch(pool, chain.id);
  if (haltedReason !== null || finalizedTo === null) return false;
  if (finalizedTo > memory.judgedTo) {
    await judgeLostTransfers(watch, lead, { settle: finalizedTo, final: finalizedTo });
    memory.judgedTo = finalizedTo;
  }
  await forget(watch, lead, memory);
  const hasRescanned = await rescan(watch, lead, finalizedTo);
  if (auditedTo === null || auditedTo >= finalizedTo) return hasRescanned;
  await audit(watch, lead, { auditedTo, finalizedTo });
  return true;
};

const forget = async (watch: ChainWatch, lead: Lead, memory: PassMemory): Promise<void> => {
  const { chain, clock, pool } = watch;
  const nowMs = clock.now().getTime();
  if (nowMs - memory.forgotAtMs < forgetEveryMs) return;
  const before = new Date(nowMs - unmatchedKeptMs);
  await pool.transaction(async (tx) => {
    await lockWatch(tx, lead);
    await forgetUnmatched(tx, chain.id, { before, countMax: forgottenAtOnceMax });
  });
  memory.forgotAtMs = nowMs;
};

/** One step of the oldest rescan that final blocks allow; answers whether it did anything. */
const rescan = async (watch: ChainWatch, lead: Lead, finalizedTo: number): Promise<boolean> => {
  const { chain, log, pool, reader } = watch;
  const asked = await findRescan(pool, chain.id);
  if (asked === undefined || asked.nextBlock > finalizedTo) return false;
  const lastBlock = asked.nextBlock + chain.settings.rangeBlocksMax - 1;
  const toBlock = Math.min(asked.toBlock, finalizedTo, lastBlock);
  const pass = await readAgain(watch, reader, { fromBlock: asked.nextBlock, toBlock, finalizedTo });
  await repair(watch, lead, pass.missing, (tx) => saveRescan(tx, asked, pass.end));
  if (pass.end >= asked.toBlock) {
    log.info({ chain: chain.id, from: asked.fromBlock, to: asked.toBlock }, "a rescan is done");
  }
  return true;
};

const audit = async (
  watch: ChainWatch,
  lead: Lead,
  { auditedTo, finalizedTo }: { auditedTo: number; finalizedTo: number },
): Promise<void> => {
  const { auditor, chain, log, metrics, reader } = watch;
  const toBlock = Math.min(finalizedTo, auditedTo + chain.settings.rangeBlocksMax);
  const isOther = async (other: ChainReader) => !(await holdsFinal(watch, other, finalizedTo));
  if (toBlock === finalizedTo && auditor !== undefined && (await isOther(auditor))) {
    // A node behind the others, or on another chain: it is asked again, and alarms for as long.
    metrics.differed(chain.id, "final_hash", 1);
    throw new Error(`chain ${chain.id}: the second provider holds another block ${finalizedTo}`);
  }
  const range = { fromBlock: auditedTo + 1, toBlock, finalizedTo };
  // A lone provider may still have been short of logs when the block was new to it.
  const pass = await readAgain(watch, auditor ?? reader, range);
  metrics.differed(chain.id, "missing", pass.missing.length);
  metrics.differed(chain.id, "surplus", pass.surplus.length);
  for (const { transactionHash, ordinal } of pass.surplus) {
    const line = { chain: chain.id, transaction: transactionHash, ordinal };
    log.error(line, "the second pass knows nothing of a payment that was settled");
  }
  await repair(watch, lead, pass.missing, (tx) => saveAudited(tx, chain.id, pass.end));
};

type Pass = {
  /** The last block that was read. */
  end: number;
  /** Payments that are there and are not kept as they should be. */
  missing: readonly Transfer[];
  /** Payments that are kept as settled and are not there. */
  surplus: readonly KeptTransfer[];
};

/** Reads final blocks again, and holds what is there against what is kept. */
const readAgain = async (
  { chain, pool }: ChainWatch,
  reader: ChainReader,
  range: { fromBlock: number; toBlock: number; finalizedTo: number },
): Promise<Pass> => {
  const { fromBlock, toBlock, finalizedTo } = range;
  const { logs, end } = await reader.readLogs({ fromBlock, toBlock });
  const transactionHashes = [...new Set(logs.map((log) => log.transactionHash))];
  const kept = await listKept(pool, chain.id, {
    fromBlock,
    toBlock: end.number,
    transactionHashes,
  });
  const standing = kept.filter(({ isOrphaned, state }) => !isOrphaned && state !== "failed");
  const places = new Set(standing.map(placeOf));
  const strange = logs.filter((log) => !places.has(placeOf(log)));
  // As much as one transaction can keep; the rest is read again with what follows.
  const [first] = cutLogs(strange, end.number);
  const { logs: taken, endNumber } = first ?? { logs: [], endNumber: end.number };
  const lines = { settle: finalizedTo, final: finalizedTo };
  const times = await readTimes(reader, taken);
  const missing = await findTransfers({ chain, reader }, { logs: taken, times, lines });
  const told = new Set<string>(transactionHashes);
  const surplus = standing.filter(
    ({ blockNumber, state, transactionHash }) =>
      state !== "seen" && blockNumber <= endNumber && !told.has(transactionHash),
  );
  return { end: endNumber, missing, surplus };
};

const placeOf = ({
  blockHash,
  transactionHash,
}: {
  blockHash: string;
  transactionHash: string;
}): string => `${blockHash} ${transactionHash}`;

const repair = async (
  { chain, clock, log, metrics, pool, wakeRelay }: ChainWatch,
  lead: Lead,
  missing: readonly Transfer[],
  moveOn: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  await pool.transaction(async (tx) => {
    await lockWatch(tx, lead);
    await keepTransfers(tx, missing, clock.now());
    await moveOn(tx);
  });
  if (missing.length === 0) return;
  wakeRelay();
  metrics.transferred(chain.id, "repaired", missing.length);
  log.warn({ chain: chain.id, count: missing.length }, "payments were found that had been missed");
};
