import { type Hex, numberToHex } from "viem";
import type { ReadAnswer } from "../../../rpc/read-answer.ts";
import type { EvmReads } from "../evm-reads.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import {
  readChainTransaction,
  readLogsOfReceipt,
  readQuantity,
  readReceipt,
  readTransactionCall,
  readTransactionHashes,
} from "../node-answers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import type { Answer, Question } from "../../../rpc/json-rpc.ts";
import { isGoneFrom, readAbsent } from "../../../rpc/read-absent.ts";
import { readKnown } from "../../../rpc/read-known.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { WatchedLogs } from "./read-logs.ts";
import type { BlockRange, SeenTransaction } from "../../../watch/chain-reader.ts";

type TransactionGround = Pick<ReaderGround, "chainId" | "metrics" | "turn"> &
  Pick<WatchedLogs, "contracts">;

type TransactionReads = Pick<
  EvmReads,
  "readAbsent" | "readCalls" | "readReceipts" | "readSenders" | "readUsedNonces"
>;

/** Reads what became of transactions. */
export const createTransactionReads = (ground: TransactionGround): TransactionReads => {
  const readAll = <T extends Named>(what: string, names: readonly Hex[], kind: Kind<T>) =>
    readKnown(ground, {
      what,
      names,
      askSome: (provider, hashes) => askSome(provider, hashes, kind),
      mustBeThere: kind.mustBeThere,
    });
  const receipt = { ...receiptCall, read: readReceipt(ground.contracts), mustBeThere: false };
  return {
    readReceipts: (hashes) => readAll("receipts", hashes, receipt),
    readAbsent: (seen, range) =>
      readAbsent(ground, {
        what: "absent transactions",
        seen,
        findProofs: (provider) => findProofs(provider, range),
        transactionQuestion: (hash) => placeQuestion(hash, (place) => place),
        blockQuestions: (number) => [hashesQuestion(number)],
        isGone: isGoneFromAnswer,
      }),
    readCalls: (hashes) => readAll("calls", hashes, call),
    readSenders: (hashes) => readAll("transactions", hashes, transaction),
    readUsedNonces: (address, blockNumber) =>
      ground.turn.ask("used nonces", async (provider) => {
        const params = [address, numberToHex(blockNumber)];
        const question = { method: "eth_getTransactionCount", params, read: readQuantity };
        const [count] = await provider.ask([question]);
        return count;
      }),
  };
};

type Named = { transactionHash: Hex };
/** What is asked of a transaction by its hash. */
type Kind<T extends Named> = { method: string; read: ReadAnswer<T | null>; mustBeThere: boolean };

const byHash = "eth_getTransactionByHash";
const receiptCall = { method: "eth_getTransactionReceipt" };
const transaction = { method: byHash, read: readChainTransaction, mustBeThere: false };
/** Asked for where a receipt is there, whose transaction must be as well. */
const call = { method: byHash, read: readTransactionCall, mustBeThere: true };

/** Where a transaction stands; null where the node does not tell. A receipt that no payment can have counts too. */
const placeQuestion = <T>(
  hash: string,
  read: (place: { blockHash: Hex; transactionHash: Hex } | null) => T,
): Question<T> => ({
  ...receiptCall,
  params: [hash],
  read: (result) => read(readLogsOfReceipt(new Set())(result)),
});

const blocksPerRequest = 100;
/** A quiet chain may have many empty blocks; more of them are not looked through. */
const emptyBlocksMax = 1_000;

/**
 * Proves that a node has all receipts of a range: it has the newest block, the receipt of the last
 * transaction up to there, and the receipt of the first transaction from the oldest block on. A node
 * prunes the oldest receipts first. Undefined if the node has not reached the newest block, or if too
 * many blocks are empty.
 */
const findProofs = async (
  provider: Provider,
  { fromBlock, toBlock }: BlockRange,
): Promise<readonly Question<boolean>[] | undefined> => {
  const [newest] = await provider.ask([hashesQuestion(toBlock)]);
  if (newest === null) return undefined;
  const first = await findReceiptProof(provider, (distance) => fromBlock + distance, "first");
  const last = await findReceiptProof(provider, (distance) => toBlock - distance, "last");
  if (first === undefined || last === undefined) return undefined;
  const { params, method, read } = hashesQuestion(toBlock);
  const reached = { method, params, read: (result: unknown) => read(result)?.hash === newest.hash };
  return [reached, first, last];
};

/** Asks for the receipt of the first or last transaction of the nearest block that has any. */
const findReceiptProof = async (
  provider: Provider,
  blockAt: (distance: number) => number,
  which: "first" | "last",
): Promise<Question<boolean> | undefined> => {
  let count = 1;
  for (let distance = 0; distance < emptyBlocksMax; distance += count) {
    if (distance > 0) count = blocksPerRequest;
    const numbers = Array.from({ length: count }, (_, index) => blockAt(distance + index));
    const existing = numbers.filter((number) => number >= 0);
    if (existing.length === 0) return undefined;
    for (const block of await provider.askMany(existing.map(hashesQuestion))) {
      if (block === null) return undefined;
      const hash = block.transactionHashes.at(which === "first" ? 0 : -1);
      if (hash === undefined) continue;
      return placeQuestion(
        hash,
        (place) => place?.transactionHash === hash && place.blockHash === block.hash,
      );
    }
  }
  return undefined;
};

const hashesQuestion = (number: number) => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(number), false],
  read: readTransactionHashes,
});

/** Whether a node has another block than the one in which a transaction was seen, or one without it. */
const isGoneFromAnswer = (seen: SeenTransaction, [answer]: readonly Answer[]): boolean => {
  if (answer === undefined || !("value" in answer)) return false;
  // The question's own parser has made this value.
  const block = answer.value as ReturnType<typeof readTransactionHashes>;
  return block !== null && isGoneFrom(seen, block);
};

/** Anybody can write large receipts: if they are too much for one answer, fewer are asked for. */
const askSome = async <T extends Named>(
  provider: Provider,
  hashes: readonly Hex[],
  { method, read }: Pick<Kind<T>, "method" | "read">,
): Promise<Map<Hex, T>> => {
  const answers = await provider.askMany(hashes.map((hash) => ({ method, params: [hash], read })));
  return new Map(
    answers.flatMap((answer, index): [Hex, T][] => {
      if (answer === null) return [];
      if (answer.transactionHash !== hashes[index]) {
        throw new RpcFault("invalid", "an answer for another transaction");
      }
      return [[answer.transactionHash, answer]];
    }),
  );
};
