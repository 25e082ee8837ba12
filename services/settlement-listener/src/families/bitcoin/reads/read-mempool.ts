import { crc32 } from "node:zlib";
import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import type { ChainReader, UnconfirmedTransaction } from "../../../watch/chain-reader.ts";
import type { BitcoinChain } from "../bitcoin-chain.ts";
import { mempoolRequest, rawTransactionRequest } from "../rpc-requests.ts";
import type { KnownPayees, Payees } from "../payees.ts";
import type { BitcoinOutput } from "../parse-raw.ts";
import { listTransfers, toSenderWithAncestors } from "../verify-transaction.ts";
import { fetchAncestors } from "./fetch-ancestors.ts";
import { fetchKnown, listMined } from "./read-transactions.ts";

/** The mempool transactions read so far. Losing this state does no harm. */
type Mempool = {
  /**
   * The transactions that were read and were in the last list, with the checksums of the scripts
   * they pay.
   */
  checksumsByTxid: Map<string, readonly Checksum[]>;
  /** All read transactions were checked against this many payees, oldest first. */
  payeeCount: number;
  unreadTxids: string[];
  /** The transactions that pay links. */
  payingTransactions: Map<string, UnconfirmedTransaction>;
  nextListAtMs: number;
};

/** CRC-32 of an output's script, which represents a payee in 8 bytes. Two scripts may share one. */
type Checksum = number;

const createEmptyMempool = (): Mempool => ({
  checksumsByTxid: new Map(),
  payeeCount: 0,
  unreadTxids: [],
  payingTransactions: new Map(),
  nextListAtMs: 0,
});

/**
 * The maximum number of transactions read per call. The whole network creates as many in a few
 * minutes.
 */
const readsPerCallMax = 2_000;
/**
 * A list contains the whole mempool, so longer lists are requested less often: every 30 s for
 * 300,000 transactions.
 */
const listDelayMsPerTransaction = 0.1;
/** The maximum number of payments reported before they are mined. */
const payingTransactionsMax = 10_000;

type MempoolOptions = { chain: BitcoinChain; payees: Payees; finalDepthBlocks: number };

/** Reads the mempool: first the list of transaction ids, then each transaction once. */
export const createReadMempool = (
  { clock, failover }: Pick<ReaderContext, "clock" | "failover">,
  { payees, ...options }: MempoolOptions,
): NonNullable<ChainReader["readMempool"]> => {
  const mempool = createEmptyMempool();
  return async () => {
    const knownPayees = await payees.read();
    requeueForNewPayees(mempool, knownPayees);
    return failover.run("what waits", async (provider) => {
      if (mempool.unreadTxids.length === 0 && clock.elapsedMs() >= mempool.nextListAtMs) {
        const count = await refreshMempoolList(provider, mempool);
        mempool.nextListAtMs = clock.elapsedMs() + count * listDelayMsPerTransaction;
      }
      await readNextTransactions(provider, mempool, {
        ...options,
        findPayee: knownPayees.findPayee,
      });
      return {
        transactions: [...mempool.payingTransactions.values()],
        unreadCount: mempool.unreadTxids.length,
      };
    });
  };
};

const refreshMempoolList = async (provider: Provider, mempool: Mempool): Promise<number> => {
  const [txids] = await provider.request([mempoolRequest]);
  const mempoolTxids = new Set(txids);
  for (const txid of mempool.checksumsByTxid.keys())
    if (!mempoolTxids.has(txid)) mempool.checksumsByTxid.delete(txid);
  for (const txid of mempool.payingTransactions.keys())
    if (!mempoolTxids.has(txid)) mempool.payingTransactions.delete(txid);
  mempool.unreadTxids = txids.filter((txid) => !mempool.checksumsByTxid.has(txid));
  return txids.length;
};

/**
 * Queues transactions again that may pay new links, because they were read before these links
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
  provider: Provider,
  mempool: Mempool,
  {
    chain,
    findPayee,
    ...ancestorOptions
  }: Omit<MempoolOptions, "payees"> & Pick<KnownPayees, "findPayee">,
): Promise<void> => {
  const txids = mempool.unreadTxids.slice(0, readsPerCallMax);
  // An unknown transaction was mined or replaced meanwhile, or has not reached the node. It is
  // requested again when a later list contains it.
  const transactions = await fetchKnown(provider, txids.map(rawTransactionRequest));
  for (const transaction of transactions) {
    const { txid } = transaction;
    const transfers = listTransfers(transaction, findPayee, chain);
    if (transfers.length > 0 && mempool.payingTransactions.size < payingTransactionsMax) {
      // Its block may have been scanned before the link was created (rule CHAIN-28).
      if ((await listMined(provider, [txid])).has(txid)) continue;
      // Ancestors are read now, because nodes forget them once they are replaced.
      const ancestors = await fetchAncestors(provider, transaction, ancestorOptions);
      // The transaction is requested again with a later list.
      if (ancestors === undefined) continue;
      const sender = { address: toSenderWithAncestors(transaction, ancestors), nonce: 0 };
      mempool.payingTransactions.set(txid, { transactionHash: txid, sender, transfers });
    }
    mempool.checksumsByTxid.set(txid, toChecksums(transaction.outputs));
  }
  mempool.unreadTxids = mempool.unreadTxids.slice(txids.length);
};
