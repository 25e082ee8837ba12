import type { Provider } from "../../rpc/provider.ts";
import { heightRequest } from "./rpc-requests.ts";
import type { BitcoinTransaction } from "./parse-raw.ts";
import type { Ancestor } from "./verify-transaction.ts";
import { fetchTransactions } from "./read-transactions.ts";

/** Bitcoin Core's default limit: mempools reject a transaction with more unconfirmed ancestors. */
const ancestorsMax = 25;
/** The maximum number of transactions requested in total. */
const followedInputsMax = 100;

/**
 * Returns the ancestors of an unconfirmed transaction: the transactions whose outputs it spends,
 * and their ancestors in turn. Skips ancestors in blocks that are at least `finalDepthBlocks` deep.
 * Returns at most `ancestorsMax` of them, nearest first. Returns undefined if the node does not
 * know one of them, for example because it was just replaced.
 */
export const fetchAncestors = async (
  provider: Provider,
  { inputs }: Pick<BitcoinTransaction, "inputs">,
  { finalDepthBlocks }: { finalDepthBlocks: number },
): Promise<readonly Ancestor[] | undefined> => {
  const [height] = await provider.request([heightRequest]);
  const ancestors: Ancestor[] = [];
  const requestedTxids = new Set<string>();
  let nextTxids = inputs.map(toTxid);
  while (nextTxids.length > 0) {
    const txids = [...new Set(nextTxids)].filter((txid) => !requestedTxids.has(txid));
    const followedTxids = txids.slice(0, followedInputsMax - requestedTxids.size);
    for (const txid of followedTxids) requestedTxids.add(txid);
    const knownTransactions = await fetchTransactions(provider, followedTxids);
    if (knownTransactions.size < followedTxids.length) return undefined;
    const newAncestors = [...knownTransactions.values()]
      .filter(
        ({ canonicalBlock }) =>
          canonicalBlock === undefined || canonicalBlock.number > height - finalDepthBlocks,
      )
      .map(({ parsedTransaction }) => ({
        txid: parsedTransaction.txid,
        inputs: parsedTransaction.inputs,
      }))
      .slice(0, ancestorsMax - ancestors.length);
    ancestors.push(...newAncestors);
    nextTxids =
      ancestors.length < ancestorsMax
        ? newAncestors.flatMap((ancestor) => ancestor.inputs.map(toTxid))
        : [];
  }
  return ancestors;
};

/** Returns the id of the transaction that created an output. */
export const toTxid = (outpoint: string): string => outpoint.slice(0, outpoint.indexOf(":"));
