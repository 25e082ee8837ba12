import type { ReaderGround } from "./open-chain-readers.ts";
import type { Provider } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

type Asked<Name extends string, T> = {
  what: string;
  names: readonly Name[];
  /** Asks one provider; what it does not know is left out. */
  askSome: (provider: Provider, names: readonly Name[]) => Promise<ReadonlyMap<Name, T>>;
  /** All of it is there: where two know less, the question is put to the next. */
  mustBeThere?: boolean;
};

/**
 * Reads what has a name on chain. No single provider is trusted when it says "not known": if there is
 * another, it is asked too, as the first may only be behind. What is not known to either is left out.
 */
export const readKnown = async <Name extends string, T>(
  { chainId, metrics, turn }: Pick<ReaderGround, "chainId" | "metrics" | "turn">,
  { what, names, askSome, mustBeThere = false }: Asked<Name, T>,
): Promise<ReadonlyMap<Name, T>> => {
  const asked = [...new Set(names)];
  if (asked.length === 0) return new Map();
  return turn.ask(what, async (provider) => {
    const found = await askSome(provider, asked);
    const missing = asked.filter((name) => !found.has(name));
    if (missing.length === 0) return found;
    const more = await turn.askOther(provider, (other) => askSome(other, missing));
    if (more !== undefined && more.size > 0) metrics.disagreed(chainId, "missing_receipt");
    if (mustBeThere && more?.size !== missing.length) {
      throw new RpcFault("behind", `${what} that must be there are not`);
    }
    return new Map([...found, ...(more ?? [])]);
  });
};
