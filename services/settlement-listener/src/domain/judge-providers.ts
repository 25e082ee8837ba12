/** What the check of a provider against the catalogue found; `unknown` if the provider did not answer. */
export type ProviderVerdict = "agrees" | "unknown" | { fault: string };

/** A chain's verdicts by provider id, in the order of the configuration. */
export type ProviderVerdicts = ReadonlyMap<string, ProviderVerdict>;

/**
 * Returns whether a chain may start (rule CHAIN-30). A provider that does not answer stops nothing. One that
 * differs does, unless a quorum agrees without it: of two that contradict each other, either may be wrong.
 */
export const mayStart = (verdicts: ProviderVerdicts, quorum: number): boolean => {
  const all = [...verdicts.values()];
  const agreeingCount = all.filter((verdict) => verdict === "agrees").length;
  return agreeingCount >= (all.some(isFault) ? quorum : 1);
};

/** Returns the faults by the names of their providers: `rpc-1` is the first of the configuration. */
export const listFaults = (verdicts: ProviderVerdicts): { provider: string; fault: string }[] =>
  [...verdicts.values()].flatMap((verdict, index) =>
    isFault(verdict) ? [{ provider: providerName(index), fault: verdict.fault }] : [],
  );

export const providerName = (index: number): string => `rpc-${index + 1}`;

export const isFault = (verdict: ProviderVerdict | undefined): verdict is { fault: string } =>
  typeof verdict === "object";
