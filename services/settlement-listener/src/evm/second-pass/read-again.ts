import { type Transaction, transact } from "@payment-links/postgres";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { listStored } from "../../store/chain-transfers.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import { cutLogs } from "../transfers/cut-logs.ts";
import { findTransfers, linesOfOne, readTimes } from "../transfers/find-transfers.ts";

type Pass = {
  /** The last block that was read. */
  end: number;
  /** Payments on the chain that are not stored as they should be. */
  missing: readonly ChainTransfer[];
  /** Payments that are stored as settled and are not on the chain. */
  surplus: readonly StoredTransfer[];
};

/** Reads final blocks again, and holds what is there against what is stored. */
export const readAgain = async (
  { chain, pool, witnesses }: WatchContext,
  reader: ChainReader,
  range: { fromBlock: number; toBlock: number; finalizedTo: number },
): Promise<Pass> => {
  const { fromBlock, toBlock, finalizedTo } = range;
  const { logs, end } = await reader.readLogs({ fromBlock, toBlock });
  const transactionHashes = [...new Set(logs.map((log) => log.transactionHash))];
  const stored = await listStored(pool, chain.id, {
    fromBlock,
    toBlock: end.number,
    transactionHashes,
  });
  const standing = stored.filter(({ isOrphaned, status }) => !isOrphaned && status !== "failed");
  const places = new Set(standing.map(placeOf));
  const strange = logs.filter((log) => !places.has(placeOf(log)));
  // One commit holds so much; the rest is read again with what follows.
  const [first] = cutLogs(strange, end.number);
  const { logs: taken, endNumber } = first ?? { logs: [], endNumber: end.number };
  const lines = linesOfOne(witnesses, { settle: finalizedTo, final: finalizedTo });
  const times = await readTimes(reader, taken);
  const missing = await findTransfers({ chain, reader }, { logs: taken, times, lines });
  const readHashes = new Set<string>(transactionHashes);
  const surplus = standing.filter(
    ({ blockNumber, status, transactionHash }) =>
      status === "settled" && blockNumber <= endNumber && !readHashes.has(transactionHash),
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

/** Commits what had been missed, together with how far was read. */
export const commitMissed = async (
  { chain, clock, log, metrics, pool, wakeRelay }: WatchContext,
  lead: Lead,
  missing: readonly ChainTransfer[],
  moveOn: (tx: Transaction) => Promise<void>,
): Promise<void> => {
  await transact(pool, async (tx) => {
    await lockLead(tx, lead);
    await recordTransfers(tx, missing, clock.now());
    await moveOn(tx);
  });
  if (missing.length === 0) return;
  wakeRelay();
  metrics.transferred(chain.id, "repaired", missing.length);
  log.warn({ chain: chain.id, count: missing.length }, "payments were found that had been missed");
};
