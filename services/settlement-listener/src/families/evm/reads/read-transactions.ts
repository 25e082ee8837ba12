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
import type { Question } from "../../../rpc/json-rpc.ts";
import { readAbsent } from "../../../rpc/read-absent.ts";
import { readKnown } from "../../../rpc/read-known.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";

type TransactionGround = Pick<ReaderGround, "chainId" | "metrics" | "turn">;

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
  return {
    readReceipts: (hashes) => readAll("receipts", hashes, receipt),
    readAbsent: (hashes, sinceBlock) =>
      readAbsent(ground, {
        what: "what is absent",
        names: hashes,
        findProof: (provider) => findProof(provider, sinceBlock),
        questionOf: (hash) => placeQuestion(hash, (place) => place),
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
const receipt = { method: "eth_getTransactionReceipt", read: readReceipt, mustBeThere: false };
const transaction = { method: byHash, read: readChainTransaction, mustBeThere: false };
/** Asked for where a receipt is there, whose transaction must be as well. */
const call = { method: byHash, read: readTransactionCall, mustBeThere: true };

/** Where a transaction stands; null where the node does not tell. A receipt that no payment can have counts too. */
const placeQuestion = <T>(
  hash: Hex,
  read: (place: { blockHash: Hex; transactionHash: Hex } | null) => T,
): Question<T> => ({
  method: receipt.method,
  params: [hash],
  read: (result) => read(readLogsOfReceipt(new Set())(result)),
});

const blocksAtOnce = 100;
/** A node of a quiet chain is asked for so many blocks at most. */
const emptyBlocksMax = 1_000;

/**
 * The receipt of the first transaction from a block on. Nodes forget by age, and no other is older: one that
 * tells it tells of all that follow. Where so many blocks are empty there is no proof.
 */
const findProof = async (
  provider: Provider,
  sinceBlock: number,
): Promise<Question<boolean> | undefined> => {
  let count = 1;
  for (let at = sinceBlock; at < sinceBlock + emptyBlocksMax; at += count) {
    if (at > sinceBlock) count = blocksAtOnce;
    const numbers = Array.from({ length: count }, (_, index) => at + index);
    for (const block of await provider.askMany(numbers.map(hashesQuestion))) {
      if (block === null) return undefined;
      const [first] = block.transactionHashes;
      if (first === undefined) continue;
      return placeQuestion(
        first,
        (place) => place?.transactionHash === first && place.blockHash === block.hash,
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
