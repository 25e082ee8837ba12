import { type Clock, afterMs } from "@payment-links/runtime";
import { ChainUnreachableError } from "../watch/chain-reader.ts";
import type { Provider, RpcTiming } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";

/** Sends a request to a chain's providers, one after another, until one of them answers. */
export type ProviderFailover = {
  /**
   * Returns the result of the first attempt that does not throw {@link RpcFault}. Throws
   * `ChainUnreachableError` if all providers failed in every round or the time limit was reached.
   */
  run<T>(description: string, attempt: (provider: Provider) => Promise<T>): Promise<T>;
  /**
   * Asks the other providers for a second opinion, once each. Returns undefined if none of them can
   * answer.
   */
  runOnOther<T>(
    provider: Provider,
    attempt: (provider: Provider) => Promise<T>,
  ): Promise<T | undefined>;
};

type FailoverOptions = {
  chainId: string;
  clock: Clock;
  timing: RpcTiming;
  closing: AbortSignal;
  /** The providers in the order in which to ask them. */
  providers: () => readonly Provider[];
  /** The maximum number of attempts per provider. */
  roundsMax?: number | undefined;
};

const roundsMaxDefault = 4;
const pauseMs = 100;

export const createProviderFailover = (options: FailoverOptions): ProviderFailover => {
  const { chainId, clock, closing, providers, roundsMax = roundsMaxDefault, timing } = options;
  return {
    run: async (description, attempt) => {
      const endsAtMs = clock.elapsedMs() + timing.failoverMsMax;
      const faults = new Map<string, string>();
      for (let round = 0; round < roundsMax; round += 1) {
        for (const provider of providers()) {
          if (closing.aborted || clock.elapsedMs() > endsAtMs) break;
          const result = await runAttempt(provider, attempt);
          if ("value" in result) return result.value;
          faults.set(provider.name, result.fault);
        }
        const waitMs = getNextRoundDelayMs(providers(), round);
        const isTimeUp = clock.elapsedMs() + waitMs > endsAtMs || round === roundsMax - 1;
        if (closing.aborted || isTimeUp) break;
        await clock.sleepUntil(afterMs(clock, waitMs), closing);
      }
      const providerFaults = [...faults].map(([name, fault]) => `${name}: ${fault}`);
      const faultSummary =
        providerFaults.length === 0 ? "every provider is ignored" : providerFaults.join(", ");
      throw new ChainUnreachableError(
        `chain ${chainId}: no provider could read ${description}: ${faultSummary}`,
      );
    },
    runOnOther: async (provider, attempt) => {
      for (const otherProvider of providers()) {
        if (otherProvider === provider || closing.aborted) continue;
        const result = await runAttempt(otherProvider, attempt);
        if ("value" in result) return result.value;
      }
      return undefined;
    },
  };
};

type AttemptResult<T> = { value: T } | { fault: string };

const runAttempt = async <T>(
  provider: Provider,
  attempt: (provider: Provider) => Promise<T>,
): Promise<AttemptResult<T>> => {
  const { circuitBreaker } = provider;
  if (!circuitBreaker.canRequest()) return { fault: "paused after failures" };
  try {
    const value = await attempt(provider);
    circuitBreaker.recordSuccess();
    return { value };
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    updateCircuitBreaker(provider, error);
    return { fault: error.message };
  }
};

/**
 * Updates the circuit breaker. A provider that answers is healthy, even if it cannot serve this
 * request.
 */
const updateCircuitBreaker = (
  { circuitBreaker }: Provider,
  { kind, retryAfterMs }: RpcFault,
): void => {
  switch (kind) {
    case "rate_limited":
      circuitBreaker.recordFailure({ atLeastMs: retryAfterMs ?? 0 });
      return;
    case "timeout":
    case "unreachable":
    case "invalid":
      circuitBreaker.recordFailure(
        retryAfterMs === undefined ? undefined : { atLeastMs: retryAfterMs },
      );
      return;
    case "range":
    case "behind":
    case "refused":
    case "reverted":
      circuitBreaker.recordSuccess();
  }
};

/**
 * Returns the delay before the next round: a growing pause with jitter. If all providers are
 * cooling down, the delay lasts at least until the first cooldown ends.
 */
const getNextRoundDelayMs = (providers: readonly Provider[], round: number): number => {
  const backoffMs = pauseMs * 2 ** round * (0.5 + Math.random() / 2);
  const cooldownsMs = providers.map(({ circuitBreaker }) => circuitBreaker.remainingCooldownMs());
  return Math.max(backoffMs, Math.min(...cooldownsMs));
};
