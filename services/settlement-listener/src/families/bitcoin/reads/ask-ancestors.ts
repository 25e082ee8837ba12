import type { Provider } from "../../../rpc/provider.ts";
import { heightQuestion } from "../node-answers.ts";
import type { BitcoinTransaction } from "../read-raw.ts";
import type { Ancestor } from "../verify-transaction.ts";
import { askTransactions } from "./read-transactions.ts";

/** A mempool takes no transaction with more that wait (Bitcoin Core's default). */
const ancestorsMax = 25;
/** So many inputs are followed, of all of them together. */
const followedMax = 100;

/**
 * What a transaction that waits depends on: the transactions whose outputs it spends, and theirs, as far
 * as no block holds them that is `finalDepthBlocks` deep. The nearest first, so many at most. Undefined
 * where the node does not know one of them: it may have been replaced just now.
 */
export const askAncestors = async (
  provider: Provider,
  { inputs }: Pick<BitcoinTransaction, "inputs">,
  { finalDepthBlocks }: { finalDepthBlocks: number },
): Promise<readonly Ancestor[] | undefined> => {
  const [height] = await provider.ask([heightQuestion]);
  const ancestors: Ancestor[] = [];
  const asked = new Set<string>();
  let next = inputs.map(txidOf);
  while (next.length > 0) {
    const txids = [...new Set(next)].filter((txid) => !asked.has(txid));
    const followed = txids.slice(0, followedMax - asked.size);
    for (const txid of followed) asked.add(txid);
    const known = await askTransactions(provider, followed);
    if (known.size < followed.length) return undefined;
    const fresh = [...known.values()]
      .filter(({ place }) => place === undefined || place.number > height - finalDepthBlocks)
      .map(({ body }) => ({ txid: body.txid, inputs: body.inputs }))
      .slice(0, ancestorsMax - ancestors.length);
    ancestors.push(...fresh);
    next = ancestors.length < ancestorsMax ? fresh.flatMap((one) => one.inputs.map(txidOf)) : [];
  }
  return ancestors;
};

/** The transaction whose output it is. */
export const txidOf = (outpoint: string): string => outpoint.slice(0, outpoint.indexOf(":"));
