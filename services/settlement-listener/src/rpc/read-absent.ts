import type { SeenTransaction } from "../watch/chain-reader.ts";
import type { Answer, Question } from "./json-rpc.ts";
import type { ReaderGround } from "./open-chain-readers.ts";
import type { Provider } from "./provider.ts";

type Asked = {
  what: string;
  seen: readonly SeenTransaction[];
  /**
   * Finds questions that only a node with the whole range answers with true: it still has the oldest
   * transactions and has already reached the newest block. Undefined where it cannot prove this.
   */
  findProofs: (provider: Provider) => Promise<readonly Question<boolean>[] | undefined>;
  /** Asks for a transaction; the node answers null if it does not know it. */
  transactionQuestion: (transactionHash: string) => Question;
  /** What the node is asked about the block in which a transaction was seen. */
  blockQuestions: (blockNumber: number) => readonly Question[];
  /** Whether the answers prove that this block is not canonical or does not hold the transaction. */
  isGone: (seen: SeenTransaction, answers: readonly Answer[]) => boolean;
};

/** Whether a block is another than the one in which a transaction was seen, or does not list it. */
export const isGoneFrom = (
  seen: SeenTransaction,
  block: { hash: string; transactionHashes: readonly string[] },
): boolean =>
  block.hash !== seen.blockHash || !block.transactionHashes.includes(seen.transactionHash);

/** One request asks for at most this many transactions, and for the blocks in which they were seen. */
const transactionsPerRequestMax = 8;

/**
 * Returns the hashes of the transactions that are in no canonical block of the range. A node that
 * lags, or has pruned its history, does not know a transaction either. So one request holds all
 * questions, as many nodes may share an address: the proofs, the blocks and the transactions.
 */
export const readAbsent = (
  { turn }: Pick<ReaderGround, "turn">,
  { blockQuestions, findProofs, isGone, seen, transactionQuestion, what }: Asked,
): Promise<ReadonlySet<string>> =>
  turn.ask(what, async (provider) => {
    const absent = new Set<string>();
    const proofs = await findProofs(provider);
    if (proofs === undefined) return absent;
    for (let at = 0; at < seen.length; at += transactionsPerRequestMax) {
      const some = seen.slice(at, at + transactionsPerRequestMax);
      const blockNumbers = [...new Set(some.map(({ blockNumber }) => blockNumber))];
      const asked = [
        proofs,
        some.map(({ transactionHash }) => transactionQuestion(transactionHash)),
        ...blockNumbers.map(blockQuestions),
      ];
      const answers = await provider.askEach<unknown>(asked.flat());
      const [proved, transactions, ...blocks] = asked.map(({ length }) =>
        answers.splice(0, length),
      );
      if (!proved?.every((answer) => "value" in answer && answer.value === true)) continue;
      for (const [index, one] of some.entries()) {
        const transaction = transactions?.[index];
        const isUnknown =
          transaction !== undefined && "value" in transaction && transaction.value === null;
        const ofBlock = blocks[blockNumbers.indexOf(one.blockNumber)] ?? [];
        if (isUnknown && isGone(one, ofBlock)) absent.add(one.transactionHash);
      }
    }
    return absent;
  });
