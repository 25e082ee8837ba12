import { type Transaction, transact } from "@payment-links/postgres";
import type { StoredTransfer, ChainTransfer } from "../../domain/chain-transfer.ts";
import { withoutOlder } from "../../sightings/list-older.ts";
import { recordTransfers } from "../../sightings/record-transfers.ts";
import { listStored } from "../../store/chain-transfers.ts";
import { type Lead, lockLead } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader, Pointer } from "../chain-reader.ts";
import { cutPointers } from "../transfers/cut-pointers.ts";
import { findTransfers, linesOfOne, readTimes } from "../transfers/find-transfers.ts";

export type Pass = {
  /** The last block that was read. */
  end: number;
  /** Payments on the chain that are not stored as they should be. */
  missing: readonly ChainTransfer[];
  /** Payments that are stored as settled and are not on the chain. */
  surplus: readonly StoredTransfer[];
};

type Range = {
  fromBlock: number;
  toBlock: number;
  finalizedTo: number;
  /** Looks into transactions of what is settled as well: more of them may count by now. */
  isThorough?: boolean;
};

/** Reads final blocks again, and holds what is there against what is stored. */
export const readAgain = async (
  { chain, pool, witnesses }: WatchContext,
  reader: ChainReader,
  { fromBlock, toBlock, finalizedTo, isThorough = false }: Range,
): Promise<Pass> => {
  const { pointers, end } = await reader.readPointers({ fromBlock, toBlock, isAgain: true });
  const transactionHashes = [...new Set(pointers.map((log) => log.transactionHash))];
  const stored = await listStored(pool, chain.id, {
    fromBlock,
    toBlock: end.number,
    transactionHashes,
  });
  const standing = stored.filter(({ isOrphaned, status }) => !isOrphaned && status !== "failed");
  const known = new Set(standing.map(nameOf));
  // Two have shown what is settled. What names no link, or waits, one alone may have shown otherwise.
  const proved = new Set(standing.filter(({ status }) => status === "settled").map(placeOf));
  const readsAll = isThorough || chain.settings.storesOwnOnly === true;
  const strange = pointers.filter((log) => readsAll || !proved.has(placeOf(log)));
  // One commit holds so much; the rest is read again with what follows. What stands before the range is
  // no part of it, and moves no mark.
  const taken: Pointer[] = [];
  let endNumber = end.number;
  for (const piece of cutPointers(strange, end.number)) {
    taken.push(...piece.pointers);
    endNumber = piece.endNumber;
    if (endNumber >= fromBlock) break;
  }
  const lines = linesOfOne(witnesses, { settle: finalizedTo, final: finalizedTo });
  const times = await readTimes(reader, taken);
  const found = await findTransfers({ chain, reader }, { pointers: taken, times, lines });
  const unknown = found.filter((one) => !known.has(nameOf(one)));
  const missing = await withoutOlder(pool, unknown);
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

/** A transfer where it stands. */
const nameOf = (transfer: ChainTransfer | StoredTransfer): string =>
  `${placeOf(transfer)} ${transfer.referenceHash} ${transfer.ordinal}`;

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
