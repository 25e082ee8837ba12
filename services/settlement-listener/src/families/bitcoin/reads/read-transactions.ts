import type { Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
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
type TransactionOptions = Pick<ReaderGround, "chainId" | "metrics" | "turn">;

/** A transaction, and its block where that is one of the node's chain. */
type Found = KnownTransaction & { place: Place | undefined };

/**
 * Reads what became of transactions. No single provider is trusted when it says "not known": if there
 * is another, it is asked too, as the first may only be behind.
 */
export const createTransactionReads = (
  { chainId, metrics, turn }: TransactionOptions,
  { chain, payees }: { chain: BitcoinChain; payees: Payees },
): TransactionReads => {
  const readAll = async (what: string, txids: readonly string[]) => {
    const asked = [...new Set(txids)];
    if (asked.length === 0) return new Map<string, Found>();
    return turn.ask(what, async (provider) => {
      const found = await askSome(provider, asked);
      const missing = asked.filter((txid) => !found.has(txid));
      if (missing.length === 0) return found;
      const more = await turn.askOther(provider, (other) => askSome(other, missing));
      if (more !== undefined && more.size > 0) metrics.disagreed(chainId, "missing_receipt");
      return new Map([...found, ...(more ?? [])]);
    });
  };
  return {
    readReceipts: async (txids) => {
      const payeeOf = await payees.read();
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
        [...found].flatMap(([txid, { body, place }]): [string, Sender][] => {
          const address = senderOf(body);
          if (!body.isCoinbase) return [[txid, { address, nonce: 0 }]];
          // It is valid in a block of its own height only.
          return place === undefined ? [] : [[txid, { address, nonce: place.number }]];
        }),
      );
    },
  };
};

const askSome = async (
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
