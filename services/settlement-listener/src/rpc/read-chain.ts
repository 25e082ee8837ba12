import type { ReaderGround } from "./open-chain-readers.ts";

/**
 * Which chain the providers say they serve. One of another chain is reported, although others may
 * serve the right one.
 */
export const readChain = async (
  { providers, turn }: Pick<ReaderGround, "providers" | "turn">,
  chainName: string,
): Promise<string> => {
  const asking = providers().map((provider) => provider.askChain().catch(() => undefined));
  const known = (await Promise.all(asking)).filter((found) => found !== undefined);
  const found = known.find((other) => other !== chainName) ?? known[0];
  return found ?? turn.ask("the chain", (provider) => provider.askChain());
};
