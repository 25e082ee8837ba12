import type { ReaderContext } from "./create-chain-readers.ts";

/**
 * Returns the chain that the first provider serves. Asks the provider even during a cooldown,
 * because serving the wrong chain starts a cooldown.
 */
export const readChain = async ({
  providers,
  failover,
}: Pick<ReaderContext, "providers" | "failover">): Promise<string> => {
  const [firstProvider] = providers();
  const servedChain = await firstProvider?.fetchChain().catch(() => undefined);
  return servedChain ?? failover.run("the chain", (provider) => provider.fetchChain());
};
