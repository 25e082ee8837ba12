import type { ReaderContext } from "./create-chain-readers.ts";
import type { Provider } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

type KnownItemsQuery<Key extends string, T> = {
  description: string;
  keys: readonly Key[];
  /** Fetches items from one provider. Leaves out items that the provider does not know. */
  fetchItems: (provider: Provider, keys: readonly Key[]) => Promise<ReadonlyMap<Key, T>>;
  /**
   * Whether all items are known to exist. If two providers together do not have all of them, the
   * next provider is asked.
   */
  mustExist?: boolean;
};

/**
 * Reads items by their keys, such as receipts by transaction hash. If a provider does not know an
 * item, asks another one, because the first one may lag. Leaves out items that neither knows.
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
