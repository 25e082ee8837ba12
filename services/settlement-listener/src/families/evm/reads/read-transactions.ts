import { type Hex, numberToHex } from "viem";
import type { ReadAnswer } from "../../../rpc/read-answer.ts";
import type { EvmReads } from "../evm-reads.ts";
import type { Turn } from "../../../rpc/ask-in-turn.ts";
import {
  readChainTransaction,
  readQuantity,
  readReceipt,
  readTransactionCall,
} from "../node-answers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { RpcMetrics } from "../../../rpc/rpc-metrics.ts";

type TransactionOptions = { chainId: string; turn: Turn; metrics: RpcMetrics };

type TransactionReads = Pick<
  EvmReads,
  "readCalls" | "readReceipts" | "readSenders" | "readUsedNonces"
>;

/**
 * Reads what became of transactions. No single provider is trusted when it says "not known": if
 * there is another, it is asked too, as the first may only be behind.
 */
export const createTransactionReads = (options: TransactionOptions): TransactionReads => {
  const { chainId, metrics, turn } = options;
  return {
    readReceipts: async (hashes) => {
      const { found, wasMissing } = await askAll(turn, "receipts", hashes, receipt);
      if (wasMissing) metrics.disagreed(chainId, "missing_receipt");
      return found;
    },
    readCalls: async (hashes) => {
      const { found } = await askAll(turn, "calls", hashes, call, "behind");
      return found;
    },
    readSenders: async (hashes) => {
      const { found } = await askAll(turn, "transactions", hashes, transaction);
      return found;
    },
    readUsedNonces: (address, blockNumber) =>
      turn.ask("used nonces", async (provider) => {
        const params = [address, numberToHex(blockNumber)];
        const question = { method: "eth_getTransactionCount", params, read: readQuantity };
        const [count] = await provider.ask([question]);
        return count;
      }),
  };
};

type Named = { transactionHash: Hex };
/** What is asked of a transaction by its hash. */
type Kind<T extends Named> = { method: string; read: ReadAnswer<T | null> };

const receipt = { method: "eth_getTransactionReceipt", read: readReceipt };
const call = { method: "eth_getTransactionByHash", read: readTransactionCall };
const transaction = { method: "eth_getTransactionByHash", read: readChainTransaction };

/**
 * Asks one provider for all, and another for what the first does not know. What is not known to either
 * is left out, or, where it must be there, the question is put to the next.
 */
const askAll = async <T extends Named>(
  turn: Turn,
  what: string,
  hashes: readonly Hex[],
  kind: Kind<T>,
  fault?: "behind",
): Promise<{ found: ReadonlyMap<Hex, T>; wasMissing: boolean }> => {
  const asked = [...new Set(hashes)];
  if (asked.length === 0) return { found: new Map(), wasMissing: false };
  return turn.ask(what, async (provider) => {
    const found = await askSome(provider, asked, kind);
    const missing = asked.filter((hash) => !found.has(hash));
    if (missing.length === 0) return { found, wasMissing: false };
    const more = await turn.askOther(provider, (other) => askSome(other, missing, kind));
    const isWhole = (more?.size ?? 0) === missing.length;
    if (fault !== undefined && !isWhole) {
      throw new RpcFault(fault, "a receipt whose transaction is not there");
    }
    return { found: new Map([...found, ...(more ?? [])]), wasMissing: (more?.size ?? 0) > 0 };
  });
};

/** Anybody can write large receipts: if they are too much for one answer, fewer are asked for. */
const askSome = async <T extends Named>(
  provider: Provider,
  hashes: readonly Hex[],
  { method, read }: Kind<T>,
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
