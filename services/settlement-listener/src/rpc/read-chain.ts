import type { ReaderContext } from "./create-chain-readers.ts";

/**
 * Returns the chain that the first provider serves. Asks it even during a cooldown, because it
 * cools down after serving another chain.
 */
export const readChain = async ({
  providers,
  failover,
}: Pick<ReaderContext, "providers" | "failover">): Promise<string> => {
  const [firstProvider] = providers();
  const servedChain = await firstProvider?.fetchChain().catch(() => undefined);
  return servedChain ?? failover.run("the chain", (provider) => provider.fetchChain());
};
