import { chainSource } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import type { StoredTransfer } from "../../domain/chain-transfer.ts";
import { recordWaiting, recordWaits } from "../../sightings/record-waiting.ts";
import { listLost } from "../../store/open-transfers.ts";
import { markWitnessed } from "../../store/payments.ts";
import { type Lead, lockLead, readProgress } from "../../store/watchers.ts";
import { agree, quorumOf } from "../agreement/agree.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { lookedFor } from "../transfers/find-transfers.ts";
import type { WaitingTransaction } from "../chain-reader.ts";

/** What is remembered of transactions that wait to be mined. It may be lost without harm. */
export type Foresight = {
  /** How many payments of each have been recorded. */
  recorded: Map<string, number>;
  /** Those that a quorum of the providers has seen. */
  witnessed: Set<string>;
  /** When the providers are asked again for the others. */
  asksAtMs: number;
  /** Where the walk over payments that stand in no block is. */
  afterSeq: string;
};

export const noForesight = (): Foresight => ({
  recorded: new Map(),
  witnessed: new Set(),
  asksAtMs: 0,
  afterSeq: "0",
});

const transactionsAtOnceMax = 100;
const lostAtOnceMax = 100;

/**
 * Shows payments that wait to be mined: they are processing, by the word of one node, and no money. One
 * that no node knows any more, as it was replaced or a reorg took it away, is taken back; it fails only by
 * rule CHAIN-5, and is shown again where it comes again. Answers whether there is more to do at once,
 * undefined where the family shows nothing before it is mined.
 */
export const foreseeTransfers = async (
  watch: WatchContext,
  lead: Lead,
  foresight: Foresight,
): Promise<boolean | undefined> => {
  const { chain, clock, metrics, pool, reader, wakeRelay } = watch;
  if (reader.readWaiting === undefined) return undefined;
  const { transactions, unreadCount } = await reader.readWaiting();
  metrics.waited(chain.id, unreadCount);
  const unrecorded = keepThose(foresight, transactions);
  const some = unrecorded.slice(0, transactionsAtOnceMax);
  const page = { afterSeq: foresight.afterSeq, countMax: lostAtOnceMax, ...lookedFor(chain) };
  const lost = await listLost(pool, chain.id, page);
  const isMoreLost = lost.length === lostAtOnceMax;
  foresight.afterSeq = (isMoreLost ? lost.at(-1)?.seq : undefined) ?? "0";
  const hashes = new Set(lost.map(({ transactionHash }) => transactionHash));
  const known = await reader.readSenders([...hashes]);
  const isWaiting = (hash: string): boolean => {
    const sender = known.get(hash);
    return sender !== undefined && sender.isLost !== true;
  };
  if (some.length + lost.length > 0) {
    const { scannedTo } = await readProgress(pool, chain.id);
    const now = clock.now();
    const found = some.flatMap((one) => transfersOf(chain.id, one, { scannedTo, now }));
    const told = await transact(pool, async (tx) => {
      await lockLead(tx, lead);
      const waiting = await recordWaiting(tx, found, now);
      // What a block has held since stands there.
      const still = (await listLost(tx, chain.id, page)).filter((one) =>
        hashes.has(one.transactionHash),
      );
      await recordWaits(tx, still, isWaiting, now);
      return waiting;
    });
    for (const { transactionHash, transfers } of some) {
      foresight.recorded.set(transactionHash, transfers.length);
      foresight.witnessed.delete(transactionHash);
    }
    metrics.transferred(chain.id, "waiting", told.length);
    wakeRelay();
  }
  await witnessTransactions(watch, lead, foresight);
  return unreadCount > 0 || some.length < unrecorded.length;
};

const askAgainMs = 5_000;

/**
 * Marks payments that wait as seen once a quorum of the providers knows their transactions (rule
 * STATE-15). A transaction may reach a second node seconds after the first one.
 */
const witnessTransactions = async (
  { chain, clock, pool, witnesses }: WatchContext,
  lead: Lead,
  foresight: Foresight,
): Promise<void> => {
  const { recorded, witnessed } = foresight;
  const open = [...recorded.keys()]
    .filter((hash) => !witnessed.has(hash))
    .slice(0, transactionsAtOnceMax);
  if (open.length === 0 || clock.elapsedMs() < foresight.asksAtMs) return;
  const { agreed } = await agree({
    witnesses,
    quorum: quorumOf(witnesses),
    keys: open,
    ask: ({ reader }, hashes) => reader.readSenders(hashes),
    printOf: ({ isLost = false }) => String(isLost),
  });
  const seen = open.filter((hash) => agreed.has(hash) && agreed.get(hash)?.isLost !== true);
  if (seen.length < open.length) foresight.asksAtMs = clock.elapsedMs() + askAgainMs;
  if (seen.length === 0) return;
  await transact(pool, async (tx) => {
    await lockLead(tx, lead);
    const now = clock.now();
    await markWitnessed(tx, chainSource(chain.id), { transactionHashes: seen, now });
  });
  for (const hash of seen) witnessed.add(hash);
};

/** Forgets transactions that left the mempool. Returns those that are new or pay more known links than before. */
const keepThose = (
  foresight: Foresight,
  transactions: readonly WaitingTransaction[],
): readonly WaitingTransaction[] => {
  const hashes = new Set(transactions.map(({ transactionHash }) => transactionHash));
  for (const hash of foresight.recorded.keys()) {
    if (!hashes.has(hash)) foresight.recorded.delete(hash);
  }
  for (const hash of foresight.witnessed) if (!hashes.has(hash)) foresight.witnessed.delete(hash);
  return transactions.filter(
    ({ transactionHash, transfers }) =>
      foresight.recorded.get(transactionHash) !== transfers.length,
  );
};

/** As they are stored: in no block, with the last one that was scanned when they were first seen. */
const transfersOf = (
  chainId: string,
  { sender, transactionHash, transfers }: WaitingTransaction,
  { now, scannedTo }: { scannedTo: number | null; now: Date },
): readonly StoredTransfer[] =>
  transfers.map((verified) => ({
    ...verified,
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
