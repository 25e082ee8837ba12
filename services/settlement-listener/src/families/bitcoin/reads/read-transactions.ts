import type { Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { readKnown } from "../../../rpc/read-known.ts";
import type { ChainReader, Sender, TransactionReceipt } from "../../../watch/chain-reader.ts";
import type { BitcoinChain } from "../bitcoin-chain.ts";
import {
  type KnownTransaction,
  type Place,
  placeQuestion,
  transactionQuestion,
} from "../node-answers.ts";
import type { Payees } from "../payees.ts";
import { listTransfers, senderOf } from "../verify-transaction.ts";

type TransactionReads = Pick<ChainReader, "readReceipts" | "readSenders">;

/** A transaction, and its block where that is one of the node's chain. */
type Found = KnownTransaction & { place: Place | undefined };

/** Reads what became of transactions. */
export const createTransactionReads = (
  ground: Pick<ReaderGround, "chainId" | "metrics" | "turn">,
  { chain, payees }: { chain: BitcoinChain; payees: Payees },
): TransactionReads => {
  const readAll = (what: string, txids: readonly string[]) =>
    readKnown(ground, { what, names: txids, askSome: askTransactions });
  return {
    readReceipts: async (txids) => {
      const { payeeOf } = await payees.read();
      const found = await readAll("transactions", txids);
      return new Map(
        [...found].flatMap(([txid, { blockHash, body, place }]) => {
          if (place === undefined || blockHash === undefined) return [];
          const receipt: TransactionReceipt = {
            transactionHash: txid,
            blockNumber: place.number,
            blockHash,
            timestampSeconds: place.timestampSeconds,
            sender: senderOf(body),
            transfers: listTransfers(body, payeeOf, chain),
            // Its id vouches for all that is in it.
            evidence: txid,
          };
          return [[txid, receipt] as const];
        }),
      );
    },
    readSenders: async (txids) => {
      const found = await readAll("senders", txids);
      return new Map(
        [...found].flatMap(([txid, { blockHash, body, place }]): [string, Sender][] => {
          const address = senderOf(body);
          // Bitcoin Core's index keeps what stood in blocks that lost.
          const lost =
            blockHash !== undefined && place === undefined ? { isLost: true as const } : {};
          if (!body.isCoinbase) return [[txid, { address, nonce: 0, ...lost }]];
          // It is valid in a block of its own height only.
          return place === undefined ? [] : [[txid, { address, nonce: place.number }]];
        }),
      );
    },
  };
};

/** Transactions that a node knows, and where they stand; the others are left out. */
export const askTransactions = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlyMap<string, Found>> => {
  const known = await askKnown(provider, txids.map(transactionQuestion));
  const blockHashes = [...new Set(known.flatMap(({ blockHash }) => blockHash ?? []))];
  const answers = await askEachKnown(provider, blockHashes.map(placeQuestion));
  const places = new Map(blockHashes.map((blockHash, index) => [blockHash, answers[index]]));
  return new Map(
    known.map((one): [string, Found] => [
      one.body.txid,
      { ...one, place: one.blockHash === undefined ? undefined : places.get(one.blockHash) },
    ]),
  );
};

/** Those that a block of the node's chain holds. */
export const listMined = async (
  provider: Provider,
  txids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const known = await askTransactions(provider, [...new Set(txids)]);
  return new Set([...known].flatMap(([txid, { place }]) => (place === undefined ? [] : [txid])));
};

/** The answers in the order of the questions: undefined where the node knows no such thing. */
const askEachKnown = async <T>(
  provider: Provider,
  questions: readonly Question<T>[],
): Promise<readonly (T | undefined)[]> => {
  const answers = await provider.askEachInParts(questions);
  return answers.map((answer) => {
    if ("value" in answer) return answer.value;
    if (answer.fault.kind !== "behind") throw answer.fault;
    return undefined;
  });
};

/** The answers that there are. */
export const askKnown = async <T>(
  provider: Provider,
  questions: readonly Question<T>[],
): Promise<readonly T[]> =>
  (await askEachKnown(provider, questions)).filter((answer) => answer !== undefined);
