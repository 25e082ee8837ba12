import type { LocalEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";

type Reply = { id: unknown; result?: unknown };

/** A log in a node's response. */
type RawLog = { transactionHash: string };

/**
 * Returns a corruption for a provider that moves a log. The provider returns the last log of a
 * transaction as part of the last block of each requested range, regardless of its actual block.
 * The transaction's receipt is moved to the same block.
 */
export const misplaceLog = async (
  chain: Pick<LocalEvmChain, "callRpc">,
  hash: string | undefined,
): Promise<(reply: unknown) => string> => {
  const receipt = await chain.callRpc("eth_getTransactionReceipt", [hash]);
  const log = (receipt as { logs: RawLog[] }).logs.at(-1);
  if (log === undefined) throw new Error("the receipt has no logs");
  let location: { blockNumber?: unknown; blockHash?: unknown } = {};
  return (reply) => {
    const replies = [reply].flat() as Reply[];
    const endHeader = replies.map(({ result }) => result).find(isHeader);
    const isRangeRequest =
      endHeader !== undefined && replies.some(({ result }) => Array.isArray(result));
    if (isRangeRequest) location = { blockNumber: endHeader.number, blockHash: endHeader.hash };
    const changedReplies = replies.map(({ result, ...otherFields }) => {
      if (isRangeRequest && Array.isArray(result))
        return { ...otherFields, result: [{ ...log, ...location }] };
      return {
        ...otherFields,
        result: isReceiptOf(log, result) ? { ...result, ...location } : result,
      };
    });
    return JSON.stringify(Array.isArray(reply) ? changedReplies : changedReplies[0]);
  };
};

const isHeader = (value: unknown): value is { number: unknown; hash: unknown } =>
  typeof value === "object" && value !== null && "parentHash" in value;

const isReceiptOf = ({ transactionHash }: RawLog, value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  "logs" in value &&
  Reflect.get(value, "transactionHash") === transactionHash;
