import type { ReaderContext } from "./create-chain-readers.ts";
import type { Provider } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

type KnownItemsQuery<Key extends string, T> = {
  description: string;
  keys: readonly Key[];
  /** Asks one provider; what it does not know is left out. */
  fetchItems: (provider: Provider, keys: readonly Key[]) => Promise<ReadonlyMap<Key, T>>;
  /** All of it is there: where two know less, the question is put to the next. */
  mustExist?: boolean;
};

/**
 * Reads what has a name on chain. No single provider is trusted when it says "not known": if there is
 * another, it is asked too, as the first may only be behind. What is not known to either is left out.
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
      throw new RpcFault("behind", `${description} that must be there are not`);
    }
    return new Map([...knownItems, ...(otherItems ?? [])]);
  });
};
