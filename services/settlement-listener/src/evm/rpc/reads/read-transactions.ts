import { type Hex, numberToHex } from "viem";
import type { ChainReader, TransactionReceipt } from "../chain-reader.ts";
import type { Turn } from "../provider/ask-in-turn.ts";
import type { Question } from "../provider/json-rpc.ts";
import { readQuantity, readReceipt, readChainTransaction } from "../provider/node-answers.ts";
import type { Provider } from "../provider/provider.ts";
import { RpcFault } from "../provider/rpc-fault.ts";
import type { RpcMetrics } from "../rpc-metrics.ts";

type TransactionOptions = { chainId: string; turn: Turn; metrics: RpcMetrics };

type TransactionReads = Pick<ChainReader, "readReceipts" | "readNonce" | "readUsedNonces">;

/**
 * Reads what became of transactions. No single provider is trusted when it says "not known": if
 * there is another, it is asked too, as the first may only be behind.
 */
export const createTransactionReads = (options: TransactionOptions): TransactionReads => {
  const { chainId, metrics, turn } = options;
  return {
    readReceipts: async (hashes) => {
      const asked = [...new Set(hashes)];
      if (asked.length === 0) return new Map();
      return turn.ask("receipts", async (provider) => {
        const receipts = await askReceipts(provider, asked);
        const missing = asked.filter((hash) => !receipts.has(hash));
        if (missing.length === 0) return receipts;
        const found = await turn.askOther(provider, (other) => askReceipts(other, missing));
        if (found !== undefined && found.size > 0) metrics.disagreed(chainId, "missing_receipt");
        return new Map([...receipts, ...(found ?? [])]);
      });
    },
    readNonce: (hash) =>
      turn.ask("a transaction", async (provider) => {
        const nonce = await askNonce(provider, hash);
        return nonce ?? turn.askOther(provider, (other) => askNonce(other, hash));
      }),
    readUsedNonces: (address, blockNumber) =>
      turn.ask("used nonces", async (provider) => {
        const params = [address, numberToHex(blockNumber)];
        const question = { method: "eth_getTransactionCount", params, read: readQuantity };
        const [count] = await provider.ask([question]);
        return count;
      }),
  };
};

/** Anybody can write large receipts: if they are too much for one answer, fewer are asked for. */
const askReceipts = async (
  provider: Provider,
  hashes: readonly Hex[],
): Promise<Map<Hex, TransactionReceipt>> => {
  try {
    return await askReceiptsAtOnce(provider, hashes);
  } catch (error) {
    const isTooMuch = error instanceof RpcFault && error.kind === "range";
    if (!isTooMuch || hashes.length === 1) throw error;
    const half = Math.ceil(hashes.length / 2);
    const first = await askReceipts(provider, hashes.slice(0, half));
    return new Map([...first, ...(await askReceipts(provider, hashes.slice(half)))]);
  }
};

const askReceiptsAtOnce = async (
  provider: Provider,
  hashes: readonly Hex[],
): Promise<Map<Hex, TransactionReceipt>> => {
  const receipts = await provider.ask(hashes.map(receiptQuestion));
  return new Map(
    receipts.flatMap((receipt, index) => {
      if (receipt === null) return [];
      if (receipt.transactionHash !== hashes[index]) {
        throw new RpcFault("invalid", "a receipt of another transaction");
      }
      return [[receipt.transactionHash, receipt]];
    }),
  );
};

const receiptQuestion = (hash: Hex): Question<TransactionReceipt | null> => ({
  method: "eth_getTransactionReceipt",
  params: [hash],
  read: readReceipt,
});

const askNonce = async (provider: Provider, hash: Hex): Promise<number | undefined> => {
  const question = {
    method: "eth_getTransactionByHash",
    params: [hash],
    read: readChainTransaction,
  };
  const [transaction] = await provider.ask([question]);
  if (transaction !== null && transaction.hash !== hash) {
    throw new RpcFault("invalid", "another transaction");
  }
  return transaction?.nonce;
};
