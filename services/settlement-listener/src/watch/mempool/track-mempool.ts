import { getChainSource } from "@payment-links/chains";
import { transact } from "@payment-links/postgres";
import type { StoredTransfer } from "../../domain/transfer.ts";
import {
  recordUnconfirmed,
  recordMempoolStatus,
} from "../../payment-reports/record-unconfirmed.ts";
import { listOrphanedTransfers } from "../../store/open-transfers.ts";
import { markConfirmedByQuorum } from "../../store/payments.ts";
import { type Leadership, lockLeadership, readProgress } from "../../store/watchers.ts";
import { reachQuorum, getQuorum } from "../agreement/reach-quorum.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { getDepositFilter } from "../transfers/find-transfers.ts";
import type { UnconfirmedTransaction } from "@payment-links/chains/chain-reader";

/** The in-memory state of mempool tracking. It can be lost without harm. */
export type MempoolState = {
  /** The number of recorded payments of each transaction. */
  recordedCounts: Map<string, number>;
  /** Transactions that a quorum of providers has seen. */
  confirmedByQuorum: Set<string>;
  /** When to ask the providers about the other transactions again. */
  nextQuorumCheckAtMs: number;
  /** The position in the list of payments that have no block. */
  afterSeq: string;
  /** Whether the node's responses for some transactions were invalid at the last read. */
  hasUnreadable: boolean;
};

export const createMempoolState = (): MempoolState => ({
  recordedCounts: new Map(),
  confirmedByQuorum: new Set(),
  nextQuorumCheckAtMs: 0,
  afterSeq: "0",
  hasUnreadable: false,
});

const transactionBatchMax = 100;
const orphanedPageSize = 100;

/**
 * Reports payments in the mempool of one node as processing. Marks payments as dropped if no node
 * knows them any more, because they were replaced or orphaned. A dropped payment fails only by rule
 * CHAIN-5, and is reported again if it reappears. Returns whether there is more to do now, or
 * undefined if the chain family cannot read the mempool.
 */
export const trackMempool = async (
  watch: WatchContext,
  leadership: Leadership,
  state: MempoolState,
): Promise<boolean | undefined> => {
  const { chain, clock, metrics, pool, reader, wakeRelay } = watch;
  if (reader.readMempool === undefined || reader.findKnown === undefined) return undefined;
  const { transactions, unreadCount, unreadableHashes } = await reader.readMempool();
  metrics.setUnreadMempoolCount(chain.id, unreadCount + unreadableHashes.length);
  logUnreadable(watch, state, unreadableHashes);
  const unrecordedTransactions = pruneMempoolState(state, transactions);
  const batch = unrecordedTransactions.slice(0, transactionBatchMax);
  const page = { afterSeq: state.afterSeq, countMax: orphanedPageSize, ...getDepositFilter(chain) };
  const orphanedTransfers = await listOrphanedTransfers(pool, chain.id, page);
  const hasMoreOrphaned = orphanedTransfers.length === orphanedPageSize;
  state.afterSeq = (hasMoreOrphaned ? orphanedTransfers.at(-1)?.seq : undefined) ?? "0";
  const hashes = new Set(orphanedTransfers.map(({ transactionHash }) => transactionHash));
  const { known, unreadable } = await reader.findKnown([...hashes]);
  // An invalid response does not show that a node has dropped a payment.
  const readableTransfers = orphanedTransfers.filter(
    ({ transactionHash }) => !unreadable.has(transactionHash),
  );
  if (batch.length + readableTransfers.length > 0) {
    const { scannedTo } = await readProgress(pool, chain.id);
    const now = clock.now();
    const foundTransfers = batch.flatMap((transaction) =>
      toStoredTransfers(chain.id, transaction, { scannedTo, now }),
    );
    const recordedPayments = await transact(pool, async (tx) => {
      await lockLeadership(tx, leadership);
      const payments = await recordUnconfirmed(tx, foundTransfers, now);
      // Leaves out transfers that have been mined in the meantime.
      const stillOrphaned = (await listOrphanedTransfers(tx, chain.id, page)).filter(
        ({ transactionHash }) => hashes.has(transactionHash) && !unreadable.has(transactionHash),
      );
      await recordMempoolStatus(tx, stillOrphaned, (hash) => known.has(hash), now);
      return payments;
    });
    for (const { transactionHash, transfers } of batch) {
      state.recordedCounts.set(transactionHash, transfers.length);
      state.confirmedByQuorum.delete(transactionHash);
    }
    metrics.countTransfers(chain.id, "waiting", recordedPayments.length);
    wakeRelay();
  }
  await confirmByQuorum(watch, leadership, state);
  return unreadCount > 0 || batch.length < unrecordedTransactions.length;
};

/** Logs once when a node returns invalid responses for mempool transactions, and when that ends. */
const logUnreadable = (
  { chain, log }: Pick<WatchContext, "chain" | "log">,
  state: MempoolState,
  unreadableHashes: readonly string[],
): void => {
  const [transaction] = unreadableHashes;
  const hasUnreadable = transaction !== undefined;
  if (hasUnreadable === state.hasUnreadable) return;
  state.hasUnreadable = hasUnreadable;
  const count = unreadableHashes.length;
  if (hasUnreadable)
    log.warn({ chain: chain.id, count, transaction }, "mempool transactions are invalid, retrying");
  else log.info({ chain: chain.id }, "mempool transactions are valid again");
};

const quorumCheckIntervalMs = 5_000;

/**
 * Marks mempool payments as seen by a quorum once enough providers know their transactions (rule
 * STATE-15). A transaction can reach a second node a few seconds after the first.
 */
const confirmByQuorum = async (
  { chain, clock, pool, verifiers }: WatchContext,
  leadership: Leadership,
  state: MempoolState,
): Promise<void> => {
  const { recordedCounts, confirmedByQuorum } = state;
  const pendingHashes = [...recordedCounts.keys()]
    .filter((hash) => !confirmedByQuorum.has(hash))
    .slice(0, transactionBatchMax);
  if (pendingHashes.length === 0 || clock.elapsedMs() < state.nextQuorumCheckAtMs) return;
  const { agreedValues: confirmedTransactions } = await reachQuorum({
    verifiers,
    quorum: getQuorum(verifiers),
    keys: pendingHashes,
    fetchValues: async ({ reader }, hashes) => {
      const { known = new Set<string>() } = (await reader.findKnown?.(hashes)) ?? {};
      return new Map([...known].map((hash) => [hash, true]));
    },
    toFingerprint: String,
  });
  const confirmedHashes = pendingHashes.filter((hash) => confirmedTransactions.has(hash));
  if (confirmedHashes.length < pendingHashes.length)
    state.nextQuorumCheckAtMs = clock.elapsedMs() + quorumCheckIntervalMs;
  if (confirmedHashes.length === 0) return;
  await transact(pool, async (tx) => {
    await lockLeadership(tx, leadership);
    const now = clock.now();
    await markConfirmedByQuorum(tx, getChainSource(chain.id), {
      transactionHashes: confirmedHashes,
      now,
    });
  });
  for (const hash of confirmedHashes) confirmedByQuorum.add(hash);
};

/**
 * Removes transactions that have left the mempool from the state. Returns those that are new or now
 * pay more known links.
 */
const pruneMempoolState = (
  state: MempoolState,
  transactions: readonly UnconfirmedTransaction[],
): readonly UnconfirmedTransaction[] => {
  const hashes = new Set(transactions.map(({ transactionHash }) => transactionHash));
  for (const hash of state.recordedCounts.keys()) {
    if (!hashes.has(hash)) state.recordedCounts.delete(hash);
  }
  for (const hash of state.confirmedByQuorum)
    if (!hashes.has(hash)) state.confirmedByQuorum.delete(hash);
  return transactions.filter(
    ({ transactionHash, transfers }) =>
      state.recordedCounts.get(transactionHash) !== transfers.length,
  );
};

/**
 * Converts a mempool transaction to transfers to store. They have no block, so their block number
 * is that of the last scanned block.
 */
const toStoredTransfers = (
  chainId: string,
  { sender, transactionHash, transfers }: UnconfirmedTransaction,
  { now, scannedTo }: { scannedTo: number | null; now: Date },
): readonly StoredTransfer[] =>
  transfers.map((verifiedTransfer) => ({
    ...verifiedTransfer,
    chainId,
    transactionHash,
    blockNumber: scannedTo ?? 0,
    blockHash: "",
    occurredAt: now,
    sender: sender.address,
    nonce: sender.nonce,
    isOrphaned: true,
    paymentLinkId: null,
  }));
