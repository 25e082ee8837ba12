import { crc32 } from "node:zlib";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault, isItemFault } from "../../rpc/rpc-fault.ts";
import type { ChainReader, UnconfirmedTransaction } from "../../reads/chain-reader.ts";
import type { BitcoinChain } from "./bitcoin-chain.ts";
import { mempoolRequest, rawTransactionRequest } from "./rpc-requests.ts";
import type { KnownPayees, Payees } from "./payees.ts";
import type { BitcoinOutput, BitcoinTransaction } from "./parse-raw.ts";
import { listTransfers, toSenderWithAncestors } from "./verify-transaction.ts";
import { fetchAncestors } from "./fetch-ancestors.ts";
import { fetchEach, listMined } from "./read-transactions.ts";

/** The mempool transactions that have been read so far. This state can be lost without harm. */
type Mempool = {
  /**
   * The transactions that have been read and were still in the latest list, with checksums of the
   * scripts that they pay.
   */
  checksumsByTxid: Map<string, readonly Checksum[]>;
  /** The number of payees (oldest first) against which all these transactions have been checked. */
  payeeCount: number;
  unreadTxids: string[];
  /** The listed transactions for which no provider has returned a valid response. */
  unreadable: Map<string, { attemptCount: number; nextReadAtMs: number }>;
  /** The transactions that pay links. */
  payingTransactions: Map<string, UnconfirmedTransaction>;
  nextListAtMs: number;
};

/**
 * A CRC-32 of an output's script. It takes only 8 bytes per payee, and two scripts can have the
 * same checksum.
 */
type Checksum = number;

const createEmptyMempool = (): Mempool => ({
  checksumsByTxid: new Map(),
  payeeCount: 0,
  unreadTxids: [],
  unreadable: new Map(),
  payingTransactions: new Map(),
  nextListAtMs: 0,
});

/**
 * The maximum number of transactions to read per call. The whole network takes a few minutes to
 * create this many.
 */
const readsPerCallMax = 2_000;
/**
 * The list contains the whole mempool, so the longer it is, the less often it is requested: every
 * 30 s for 300,000 transactions.
 */
const listDelayMsPerTransaction = 0.1;
/** The delay before an unreadable transaction is requested again. It doubles with each attempt. */
const unreadableDelayMs = 1_000;
const unreadableDelayMsMax = 600_000;
/** The maximum number of unconfirmed transactions to report. */
const payingTransactionsMax = 10_000;

type MempoolOptions = { chain: BitcoinChain; payees: Payees; finalDepthBlocks: number };

type TransactionOptions = Omit<MempoolOptions, "payees"> & Pick<KnownPayees, "findPayee">;

/**
 * Creates the read of the mempool. It first requests the list of transaction ids, and then each
 * transaction once. A transaction with an invalid response is requested from another provider, and
 * again after a delay. It does not delay the others.
 */
export const createReadMempool = (
  context: Pick<ReaderContext, "clock" | "failover" | "countDisagreement">,
  { payees, ...options }: MempoolOptions,
): NonNullable<ChainReader["readMempool"]> => {
  const { clock, failover } = context;
  const mempool = createEmptyMempool();
  return async () => {
    const knownPayees = await payees.read();
    requeueForNewPayees(mempool, knownPayees);
    return failover.run("the mempool", async (provider) => {
      if (mempool.unreadTxids.length === 0 && clock.elapsedMs() >= mempool.nextListAtMs) {
        const count = await refreshMempoolList(provider, mempool, clock.elapsedMs());
        mempool.nextListAtMs = clock.elapsedMs() + count * listDelayMsPerTransaction;
      }
      await readNextTransactions(context, provider, mempool, {
        ...options,
        findPayee: knownPayees.findPayee,
      });
      return {
        transactions: [...mempool.payingTransactions.values()],
        unreadCount: mempool.unreadTxids.length,
        unreadableHashes: [...mempool.unreadable.keys()],
      };
    });
  };
};

const refreshMempoolList = async (
  provider: Provider,
  mempool: Mempool,
  nowMs: number,
): Promise<number> => {
  const [txids] = await provider.request([mempoolRequest]);
  const mempoolTxids = new Set(txids);
  for (const txid of mempool.checksumsByTxid.keys())
    if (!mempoolTxids.has(txid)) mempool.checksumsByTxid.delete(txid);
  for (const txid of mempool.payingTransactions.keys())
    if (!mempoolTxids.has(txid)) mempool.payingTransactions.delete(txid);
  for (const txid of mempool.unreadable.keys())
    if (!mempoolTxids.has(txid)) mempool.unreadable.delete(txid);
  mempool.unreadTxids = txids.filter(
    (txid) =>
      !mempool.checksumsByTxid.has(txid) &&
      (mempool.unreadable.get(txid)?.nextReadAtMs ?? nowMs) <= nowMs,
  );
  return txids.length;
};

/**
 * Queues transactions for another read if they may pay new links. They were read before these links
 * arrived.
 */
const requeueForNewPayees = (mempool: Mempool, { scripts }: Pick<KnownPayees, "scripts">): void => {
  const newScripts = scripts.slice(mempool.payeeCount);
  mempool.payeeCount = scripts.length;
  if (newScripts.length === 0 || mempool.checksumsByTxid.size === 0) return;
  const newChecksums = new Set(newScripts.map(toChecksum));
  for (const [txid, checksums] of mempool.checksumsByTxid) {
    if (!checksums.some((checksum) => newChecksums.has(checksum))) continue;
    mempool.checksumsByTxid.delete(txid);
    mempool.unreadTxids.unshift(txid);
  }
};

const toChecksum = (script: string): Checksum => crc32(script);

const toChecksums = (outputs: readonly BitcoinOutput[]): readonly Checksum[] =>
  outputs.flatMap(({ script, value }) => (value === 0n ? [] : [toChecksum(script)]));

const readNextTransactions = async (
  {
    clock,
    failover,
    countDisagreement,
  }: Pick<ReaderContext, "clock" | "failover" | "countDisagreement">,
  provider: Provider,
  mempool: Mempool,
  options: TransactionOptions,
): Promise<void> => {
  const txids = mempool.unreadTxids.slice(0, readsPerCallMax);
  // An unknown transaction was mined or replaced in the meantime, or has not reached this node yet.
  // It is requested again if a later list contains it.
  const { invalidTxids } = await readTransactions(provider, mempool, txids, options);
  if (invalidTxids.length > 0) {
    countDisagreement("invalid_item");
    const otherRead = await failover.runOnOther(provider, (otherProvider) =>
      readTransactions(otherProvider, mempool, invalidTxids, options),
    );
    const unreadableTxids =
      otherRead === undefined
        ? invalidTxids
        : [...otherRead.invalidTxids, ...otherRead.unknownTxids];
    for (const txid of unreadableTxids) {
      const attemptCount = (mempool.unreadable.get(txid)?.attemptCount ?? 0) + 1;
      const delayMs = Math.min(unreadableDelayMs * 2 ** (attemptCount - 1), unreadableDelayMsMax);
      mempool.unreadable.set(txid, { attemptCount, nextReadAtMs: clock.elapsedMs() + delayMs });
    }
  }
  mempool.unreadTxids = mempool.unreadTxids.slice(txids.length);
};

/** Reads transactions from one provider. Returns those without a valid response. */
const readTransactions = async (
  provider: Provider,
  mempool: Mempool,
  txids: readonly string[],
  options: TransactionOptions,
): Promise<{ invalidTxids: readonly string[]; unknownTxids: readonly string[] }> => {
  const invalidTxids: string[] = [];
  const unknownTxids: string[] = [];
  const results = await fetchEach(provider, txids.map(rawTransactionRequest));
  for (const [index, txid] of txids.entries()) {
    const transaction = results[index];
    if (transaction === undefined) unknownTxids.push(txid);
    else if (
      transaction instanceof RpcFault ||
      !(await addTransaction(provider, mempool, transaction, options))
    )
      invalidTxids.push(txid);
    else mempool.unreadable.delete(txid);
  }
  return { invalidTxids, unknownTxids };
};

/**
 * Adds a transaction to the state, unless it must be requested again when a later list contains it.
 * Returns false if a response about its block or its ancestors is invalid.
 */
const addTransaction = async (
  provider: Provider,
  mempool: Mempool,
  transaction: BitcoinTransaction,
  { chain, findPayee, ...ancestorOptions }: TransactionOptions,
): Promise<boolean> => {
  const { txid } = transaction;
  const transfers = listTransfers(transaction, findPayee, chain);
  try {
    if (transfers.length > 0 && mempool.payingTransactions.size < payingTransactionsMax) {
      // A mined transaction is left to the block scan. Its block may have been scanned before the
      // link was created (rule CHAIN-28).
      if ((await listMined(provider, [txid])).has(txid)) return true;
      // The ancestors are read now, because nodes forget a transaction once it is replaced.
      const ancestors = await fetchAncestors(provider, transaction, ancestorOptions);
      if (ancestors === undefined) return true;
      const sender = { address: toSenderWithAncestors(transaction, ancestors), nonce: 0 };
      mempool.payingTransactions.set(txid, { transactionHash: txid, sender, transfers });
    }
  } catch (error) {
    if (error instanceof RpcFault && isItemFault(error)) return false;
    throw error;
  }
  mempool.checksumsByTxid.set(txid, toChecksums(transaction.outputs));
  return true;
};
