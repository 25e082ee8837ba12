/**
 * The result of checking a provider against the catalogue. `unknown` if the provider did not
 * answer.
 */
export type ProviderCheckResult = "agrees" | "unknown" | { fault: string };

/** A chain's check results by provider id, in configuration order. */
export type ProviderCheckResults = ReadonlyMap<string, ProviderCheckResult>;

/**
 * Returns whether a chain may start (rule CHAIN-30). A provider that does not answer does not
 * prevent it. A provider that differs does, unless a quorum agrees without it: of two providers
 * that contradict each other, either may be wrong.
 */
export const canStartChain = (checkResults: ProviderCheckResults, quorum: number): boolean => {
  const allResults = [...checkResults.values()];
  const agreeingCount = allResults.filter((checkResult) => checkResult === "agrees").length;
  return agreeingCount >= (allResults.some(hasProviderFault) ? quorum : 1);
};

/**
 * Returns the faults with the names of their providers. `rpc-1` is the first in the configuration.
 */
export const listProviderFaults = (
  checkResults: ProviderCheckResults,
): { provider: string; fault: string }[] =>
  [...checkResults.values()].flatMap((checkResult, index) =>
    hasProviderFault(checkResult)
      ? [{ provider: formatProviderName(index), fault: checkResult.fault }]
      : [],
  );

export const formatProviderName = (index: number): string => `rpc-${index + 1}`;

export const hasProviderFault = (
  checkResult: ProviderCheckResult | undefined,
): checkResult is { fault: string } => typeof checkResult === "object";
