import type { ReaderGround } from "./open-chain-readers.ts";

/**
 * Returns the chain that the first provider says it serves. The provider is asked even while it rests, as
 * it rests for serving another chain.
 */
export const readChain = async ({
  providers,
  turn,
}: Pick<ReaderGround, "providers" | "turn">): Promise<string> => {
  const [first] = providers();
  const served = await first?.askChain().catch(() => undefined);
  return served ?? turn.ask("the chain", (provider) => provider.askChain());
};
