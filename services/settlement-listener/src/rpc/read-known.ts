import type { ReaderContext } from "./create-chain-readers.ts";
import type { Provider } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

type KnownItemsQuery<Key extends string, T> = {
  description: string;
  keys: readonly Key[];
  /** Asks one provider. Leaves out items that it does not know. */
  fetchItems: (provider: Provider, keys: readonly Key[]) => Promise<ReadonlyMap<Key, T>>;
  /**
   * Whether all items must exist. If two providers together lack some, the next provider is asked.
   */
  mustExist?: boolean;
};

/**
 * Reads items that have a key on chain, such as receipts. Does not trust a single provider that
 * does not know an item: if there is another provider, it is asked too, because the first may lag.
 * Leaves out items that neither knows.
 */
export const readKnown = async <Key extends string, T>(
  { chainId, metrics, failover }: Pick<ReaderContext, "chainId" | "metrics" | "failover">,
  { description, keys, fetchItems, mustExist = false }: KnownItemsQuery<Key, T>,
): Promise<ReadonlyMap<Key, T>> => {
  const uniqueKeys = [...new Set(keys)];
  if (uniqueKeys.length === 0) return new Map();
  return failover.run(description, async (provider) => {
    const knownItems = await fetchItems(provider, uniqueKeys);
    const missingKeys = uniqueKeys.filter((key) => !knownItems.has(key));
    if (missingKeys.length === 0) return knownItems;
    const otherItems = await failover.runOnOther(provider, (otherProvider) =>
      fetchItems(otherProvider, missingKeys),
    );
    if (otherItems !== undefined && otherItems.size > 0)
      metrics.countDisagreement(chainId, "missing_receipt");
    if (mustExist && otherItems?.size !== missingKeys.length) {
      throw new RpcFault("behind", `${description} that must exist are missing`);
    }
    return new Map([...knownItems, ...(otherItems ?? [])]);
  });
};
