import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { keepTransfers } from "../../sightings/keep-transfers.ts";
import { listKept } from "../../store/chain-transfers.ts";
import type { Transaction } from "../../store/transaction.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import { cutLogs } from "../transfers/cut-logs.ts";
import { findTransfers, readTimes } from "../transfers/find-transfers.ts";

type Pass = {
  /** The last block that was read. */
  end: number;
  /** Payments that are there and are not kept as they should be. */
  missing: readonly ChainTransfer[];
  /** Payments that are kept as settled and are not there. */
  surplus: readonly StoredTransfer[];
};

/** Reads final blocks again, and holds what is there against what is kept. */
export const readAgain = async (
  { chain, pool }: WatchContext,
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

/** Keeps what was missed, in the transaction that notes how far was read. */
export const repair = async (
  { chain, clock, log, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  missing: readonly ChainTransfer[],
  moveOn: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  await pool.transaction(async (tx) => {
    await lockLead(tx, lead);
    await keepTransfers(tx, missing, clock.now());
    await moveOn(tx);
  });
  if (missing.length === 0) return;
  wakeRelay();
  metrics.transferred(chain.id, "repaired", missing.length);
  log.warn({ chain: chain.id, count: missing.length }, "payments were found that had been missed");
};
