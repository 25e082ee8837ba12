import { type Hex, numberToHex } from "viem";
import {
  type EvmHeader,
  type IndexedLog,
  parseReceiptLogs,
  parseTransactionHashes,
} from "./rpc-results.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";

const receiptsPerBatchMax = 400;

/**
 * Returns the logs of the given contracts in one block. It is used if the block has too many logs
 * for one response. Instead of logs, it requests the receipts of all transactions in batches. Every
 * node supports that, and no log is missed.
 */
export const fetchBlockLogs = async (
  provider: Provider,
  { number, hash }: Pick<EvmHeader, "number" | "hash">,
  addresses: ReadonlySet<Hex>,
): Promise<IndexedLog[]> => {
  const [block] = await provider.request([
    {
      method: "eth_getBlockByNumber",
      params: [numberToHex(number), false],
      parseResult: parseTransactionHashes,
    },
  ]);
  if (block?.hash !== hash) throw new RpcFault("behind", "the node does not have this block");
  const logs: IndexedLog[] = [];
  for (let offset = 0; offset < block.transactionHashes.length; offset += receiptsPerBatchMax) {
    const batch = block.transactionHashes.slice(offset, offset + receiptsPerBatchMax);
    const receipts = await provider.request(
      batch.map((transactionHash) => ({
        method: "eth_getTransactionReceipt",
        params: [transactionHash],
        parseResult: parseReceiptLogs(addresses),
      })),
      { inParts: true },
    );
    for (const [index, receipt] of receipts.entries()) {
      if (receipt?.blockHash !== hash || receipt.transactionHash !== batch[index]) {
        throw new RpcFault("behind", "a receipt of this block is missing");
      }
      for (const log of receipt.logs) logs.push(log);
    }
  }
  return logs;
};
