import { type Hex, numberToHex } from "viem";
import type { EvmHeader } from "../evm-reads.ts";
import { type PlacedLog, readLogsOfReceipt, readTransactionHashes } from "../node-answers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";

const receiptsAtOnceMax = 400;

/**
 * Asks for the logs of one block that are too many for an answer, without asking for logs: by the
 * receipts of all its transactions, some at a time. Every node can answer that, and nothing is left
 * out. Only the logs of the given contracts are kept.
 */
export const askBlockLogs = async (
  provider: Provider,
  { number, hash }: Pick<EvmHeader, "number" | "hash">,
  addresses: ReadonlySet<Hex>,
): Promise<PlacedLog[]> => {
  const [block] = await provider.ask([
    {
      method: "eth_getBlockByNumber",
      params: [numberToHex(number), false],
      read: readTransactionHashes,
    },
  ]);
  if (block?.hash !== hash) throw new RpcFault("behind", "a node that has not this block");
  const found: PlacedLog[] = [];
  for (let at = 0; at < block.transactionHashes.length; at += receiptsAtOnceMax) {
    const asked = block.transactionHashes.slice(at, at + receiptsAtOnceMax);
    const receipts = await provider.askMany(
      asked.map((transactionHash) => ({
        method: "eth_getTransactionReceipt",
        params: [transactionHash],
        read: readLogsOfReceipt(addresses),
      })),
    );
    for (const [index, receipt] of receipts.entries()) {
      if (receipt?.blockHash !== hash || receipt.transactionHash !== asked[index]) {
        throw new RpcFault("behind", "a receipt of this block is not there");
      }
      for (const log of receipt.logs) found.push(log);
    }
  }
  return found;
};
