import type { Chain } from "./open-chain.ts";

type Reply = { id: unknown; result?: unknown };

/** A log as a node tells it. */
type RawLog = { transactionHash: string };

/**
 * What a provider sends instead that shows a transaction's last log in each range that it is asked for, in its last block,
 * whatever block it stands in; the receipt of its transaction stands where the log was shown last.
 */
export const showElsewhere = async (
  chain: Pick<Chain, "ask">,
  hash: string | undefined,
): Promise<(reply: unknown) => string> => {
  const receipt = await chain.ask("eth_getTransactionReceipt", [hash]);
  const log = (receipt as { logs: RawLog[] }).logs.at(-1);
  if (log === undefined) throw new Error("the proxy's event is there");
  let place: { blockNumber?: unknown; blockHash?: unknown } = {};
  return (reply) => {
    const replies = [reply].flat() as Reply[];
    const end = replies.map(({ result }) => result).find(isHeader);
    const asksRange = end !== undefined && replies.some(({ result }) => Array.isArray(result));
    if (asksRange) place = { blockNumber: end.number, blockHash: end.hash };
    const sent = replies.map(({ result, ...rest }) => {
      if (asksRange && Array.isArray(result)) return { ...rest, result: [{ ...log, ...place }] };
      return { ...rest, result: isReceiptOf(log, result) ? { ...result, ...place } : result };
    });
    return JSON.stringify(Array.isArray(reply) ? sent : sent[0]);
  };
};

const isHeader = (value: unknown): value is { number: unknown; hash: unknown } =>
  typeof value === "object" && value !== null && "parentHash" in value;

const isReceiptOf = ({ transactionHash }: RawLog, value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  "logs" in value &&
  Reflect.get(value, "transactionHash") === transactionHash;
