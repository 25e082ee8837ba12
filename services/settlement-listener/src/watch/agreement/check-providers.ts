import type { ProviderCheckResult, ProviderCheckResults } from "../../domain/provider-checks.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";

/**
 * Compares all providers with the catalogue in parallel (rule CHAIN-9). Throws {@link
 * ChainUnreachableError} if none of them answers.
 */
export const checkProviders = async (
  { chain }: { chain: Pick<WatchContext["chain"], "findFault"> },
  providerIds: readonly string[],
): Promise<ProviderCheckResults> => {
  let outage: ChainUnreachableError | undefined;
  const checkProvider = async (id: string): Promise<[string, ProviderCheckResult]> => {
    try {
      const fault = await chain.findFault(id);
      return [id, fault === undefined ? "agrees" : { fault }];
    } catch (error) {
      if (!(error instanceof ChainUnreachableError)) throw error;
      outage ??= error;
      return [id, "unknown"];
    }
  };
  const checkResults = new Map(await Promise.all(providerIds.map(checkProvider)));
  const hasResponse = [...checkResults.values()].some((checkResult) => checkResult !== "unknown");
  if (!hasResponse && outage !== undefined) throw outage;
  return checkResults;
};
