import { type Hex, numberToHex } from "viem";
import type { EvmHeader } from "../evm-reads.ts";
import { type IndexedLog, parseReceiptLogs, parseTransactionHashes } from "../rpc-results.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";

const receiptsPerBatchMax = 400;

/**
 * Returns the logs of one block that has too many for one response. Uses the receipts of all its
 * transactions, in batches, instead of a log request. Every node supports that, and no log is
 * missed. Returns only the logs of the given contracts.
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
  if (block?.hash !== hash) throw new RpcFault("behind", "a node that has not this block");
  const logs: IndexedLog[] = [];
  for (let offset = 0; offset < block.transactionHashes.length; offset += receiptsPerBatchMax) {
    const batch = block.transactionHashes.slice(offset, offset + receiptsPerBatchMax);
    const receipts = await provider.requestMany(
      batch.map((transactionHash) => ({
        method: "eth_getTransactionReceipt",
        params: [transactionHash],
        parseResult: parseReceiptLogs(addresses),
      })),
    );
    for (const [index, receipt] of receipts.entries()) {
      if (receipt?.blockHash !== hash || receipt.transactionHash !== batch[index]) {
        throw new RpcFault("behind", "a receipt of this block is not there");
      }
      for (const log of receipt.logs) logs.push(log);
    }
  }
  return logs;
};
