import type { ProviderVerdict, ProviderVerdicts } from "../../domain/judge-providers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";

/**
 * Compares each of the providers with the catalogue (rule CHAIN-9), all at the same time. Throws
 * {@link ChainUnreachableError} if none of them answers.
 */
export const checkProviders = async (
  { chain }: { chain: Pick<WatchContext["chain"], "findFault"> },
  providerIds: readonly string[],
): Promise<ProviderVerdicts> => {
  let outage: ChainUnreachableError | undefined;
  const check = async (id: string): Promise<[string, ProviderVerdict]> => {
    try {
      const fault = await chain.findFault(id);
      return [id, fault === undefined ? "agrees" : { fault }];
    } catch (error) {
      if (!(error instanceof ChainUnreachableError)) throw error;
      outage ??= error;
      return [id, "unknown"];
    }
  };
  const verdicts = new Map(await Promise.all(providerIds.map(check)));
  const isAnswered = [...verdicts.values()].some((verdict) => verdict !== "unknown");
  if (!isAnswered && outage !== undefined) throw outage;
  return verdicts;
};
