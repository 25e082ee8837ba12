import type { Provider } from "../../../rpc/provider.ts";
import { heightRequest } from "../rpc-requests.ts";
import type { BitcoinTransaction } from "../parse-raw.ts";
import type { Ancestor } from "../verify-transaction.ts";
import { fetchTransactions } from "./read-transactions.ts";

/** A mempool takes no transaction with more that wait (Bitcoin Core's default). */
const ancestorsMax = 25;
/** So many inputs are followed, of all of them together. */
const followedInputsMax = 100;

/**
 * What a transaction that waits depends on: the transactions whose outputs it spends, and theirs, as far
 * as no block holds them that is `finalDepthBlocks` deep. The nearest first, so many at most. Undefined
 * where the node does not know one of them: it may have been replaced just now.
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

/** The transaction whose output it is. */
export const toTxid = (outpoint: string): string => outpoint.slice(0, outpoint.indexOf(":"));
