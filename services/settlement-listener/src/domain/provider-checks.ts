import { formatProviderName } from "@payment-links/chains/chain-reader";

/**
 * The result of comparing a provider with the catalogue. `unknown` if the provider did not answer.
 */
export type ProviderCheckResult = "agrees" | "unknown" | { fault: string };

/** A chain's check results by provider id, in configuration order. */
export type ProviderCheckResults = ReadonlyMap<string, ProviderCheckResult>;

/**
 * Returns whether a chain can start (rule CHAIN-30). A provider that does not answer does not
 * prevent the start. A provider that differs does, unless a quorum of the others matches the
 * catalogue: if two providers contradict each other, either can be wrong.
 */
export const canStartChain = (checkResults: ProviderCheckResults, quorum: number): boolean => {
  const allResults = [...checkResults.values()];
  const agreeingCount = allResults.filter((checkResult) => checkResult === "agrees").length;
  return agreeingCount >= (allResults.some(hasProviderFault) ? quorum : 1);
};

/** Returns the differences with the names of their providers. */
export const listProviderFaults = (
  checkResults: ProviderCheckResults,
): { provider: string; fault: string }[] =>
  [...checkResults.values()].flatMap((checkResult, index) =>
    hasProviderFault(checkResult)
      ? [{ provider: formatProviderName(index), fault: checkResult.fault }]
      : [],
  );

export const hasProviderFault = (
  checkResult: ProviderCheckResult | undefined,
): checkResult is { fault: string } => typeof checkResult === "object";
