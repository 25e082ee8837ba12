import { crc32 } from "node:zlib";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import type { ChainReader, WaitingTransaction } from "../../../watch/chain-reader.ts";
import type { BitcoinChain } from "../bitcoin-chain.ts";
import { mempoolQuestion, rawTransactionQuestion } from "../node-answers.ts";
import type { KnownPayees, Payees } from "../payees.ts";
import type { BitcoinOutput } from "../read-raw.ts";
import { listTransfers, senderWithAncestors } from "../verify-transaction.ts";
import { askAncestors } from "./ask-ancestors.ts";
import { askKnown, listMined } from "./read-transactions.ts";

/** What was read of the transactions that wait. It may be lost without harm. */
type Mempool = {
  /** The transactions that were read and were in the last list, with the checksums of what each pays. */
  read: Map<string, readonly Checksum[]>;
  /** The number of payees, oldest first, that all read transactions were checked for. */
  payeeCount: number;
  unread: string[];
  /** Those that pay links. */
  paying: Map<string, WaitingTransaction>;
  restsUntilMs: number;
};

/** CRC-32 of an output's script: it stores a payee in 8 bytes. Two scripts may share one. */
type Checksum = number;

const noMempool = (): Mempool => ({
  read: new Map(),
  payeeCount: 0,
  unread: [],
  paying: new Map(),
  restsUntilMs: 0,
});

/** So many transactions are read in one call: some minutes of the whole network's. */
const readAtOnceMax = 2_000;
/** A list names all that wait, so it is asked for the less often the longer it is: of 300,000 every 30 s. */
const restMsPerTransaction = 0.1;
/** More payments than that are not shown before they are mined. */
const payingMax = 10_000;

type Watched = { chain: BitcoinChain; payees: Payees; finalDepthBlocks: number };

/** Reads what waits to be mined: which transactions these are, and then each of them once. */
export const createReadWaiting = (
  { clock, turn }: Pick<ReaderGround, "clock" | "turn">,
  { payees, ...watched }: Watched,
): NonNullable<ChainReader["readWaiting"]> => {
  const mempool = noMempool();
  return async () => {
    const known = await payees.read();
    rereadForNewPayees(mempool, known);
    return turn.ask("what waits", async (provider) => {
      if (mempool.unread.length === 0 && clock.elapsedMs() >= mempool.restsUntilMs) {
        const count = await listAgain(provider, mempool);
        mempool.restsUntilMs = clock.elapsedMs() + count * restMsPerTransaction;
      }
      await readSome(provider, mempool, { ...watched, payeeOf: known.payeeOf });
      return { transactions: [...mempool.paying.values()], unreadCount: mempool.unread.length };
    });
  };
};

const listAgain = async (provider: Provider, mempool: Mempool): Promise<number> => {
  const [txids] = await provider.ask([mempoolQuestion]);
  const waiting = new Set(txids);
  for (const txid of mempool.read.keys()) if (!waiting.has(txid)) mempool.read.delete(txid);
  for (const txid of mempool.paying.keys()) if (!waiting.has(txid)) mempool.paying.delete(txid);
  mempool.unread = txids.filter((txid) => !mempool.read.has(txid));
  return txids.length;
};

/** Rereads the transactions that may pay new links: they may have been read before these links arrived. */
const rereadForNewPayees = (mempool: Mempool, { scripts }: Pick<KnownPayees, "scripts">): void => {
  const newScripts = scripts.slice(mempool.payeeCount);
  mempool.payeeCount = scripts.length;
  if (newScripts.length === 0 || mempool.read.size === 0) return;
  const newChecksums = new Set(newScripts.map(checksumOf));
  for (const [txid, checksums] of mempool.read) {
    if (!checksums.some((checksum) => newChecksums.has(checksum))) continue;
    mempool.read.delete(txid);
    mempool.unread.unshift(txid);
  }
};

const checksumOf = (script: string): Checksum => crc32(script);

const checksumsOf = (outputs: readonly BitcoinOutput[]): readonly Checksum[] =>
  outputs.flatMap(({ script, value }) => (value === 0n ? [] : [checksumOf(script)]));

const readSome = async (
  provider: Provider,
  mempool: Mempool,
  { chain, payeeOf, ...depth }: Omit<Watched, "payees"> & Pick<KnownPayees, "payeeOf">,
): Promise<void> => {
  const txids = mempool.unread.slice(0, readAtOnceMax);
  // One that is not known was mined or replaced since, or is not known yet: it is asked for once more with the
  // next list that has it.
  const known = await askKnown(provider, txids.map(rawTransactionQuestion));
  for (const transaction of known) {
    const { txid } = transaction;
    const transfers = listTransfers(transaction, payeeOf, chain);
    if (transfers.length > 0 && mempool.paying.size < payingMax) {
      // Its block may have been scanned before the link was made (rule CHAIN-28).
      if ((await listMined(provider, [txid])).has(txid)) continue;
      // They are asked for now, as nobody knows them any more once they are replaced.
      const ancestors = await askAncestors(provider, transaction, depth);
      // What is unclear as well.
      if (ancestors === undefined) continue;
      const sender = { address: senderWithAncestors(transaction, ancestors), nonce: 0 };
      mempool.paying.set(txid, { transactionHash: txid, sender, transfers });
    }
    mempool.read.set(txid, checksumsOf(transaction.outputs));
  }
  mempool.unread = mempool.unread.slice(txids.length);
};
