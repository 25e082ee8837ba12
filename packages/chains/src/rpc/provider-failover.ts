import { type Clock, afterMs } from "@payment-links/runtime";
import { ChainUnreachableError, type Heads } from "../reads/chain-reader.ts";
import type { Provider, RpcTiming } from "./provider.ts";
import { RpcFault } from "./rpc-fault.ts";
import type { DisagreementKind } from "./rpc-metrics.ts";

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
  /**
   * Reads items by their keys, such as receipts by transaction hash. If a provider does not know an
   * item, asks another one, because the first one may lag. Leaves out items that neither knows, and
   * items for which neither returns a valid response. The latter are a fault of the provider if it
   * returns no valid item.
   */
  readKnown<Key extends string, T>(
    description: string,
    query: KnownItemsQuery<Key, T>,
  ): Promise<ReadonlyMap<Key, T>>;
  /** Like `readKnown`, but an item without a valid response is never a fault of the provider. */
  readKnownOrFaults<Key extends string, T>(
    description: string,
    query: KnownItemsQuery<Key, T>,
  ): Promise<ReadonlyMap<Key, T | RpcFault>>;
  /**
   * Reads the chain's heads. If the head is lower than one reported before, asks another provider
   * and uses the higher head. If no other provider is ahead, the chain has become shorter.
   */
  readHeads(fetchHeads: (provider: Provider) => Promise<Heads>): Promise<Heads>;
  /**
   * Returns the chain that the first provider serves. Asks the provider even during a cooldown,
   * because serving the wrong chain starts a cooldown.
   */
  readChain(): Promise<string>;
};

type KnownItemsQuery<Key extends string, T> = {
  keys: readonly Key[];
  /**
   * Fetches items from one provider. Leaves out items that the provider does not know. An item
   * without a valid response is a fault.
   */
  fetchItems: (provider: Provider, keys: readonly Key[]) => Promise<ReadonlyMap<Key, T | RpcFault>>;
  /**
   * Whether all items are known to exist. If two providers together do not have all of them, the
   * next provider is asked.
   */
  mustExist?: boolean | undefined;
};

/**
 * The highest head that the chain's providers have reported. A node whose head is lower is lagging.
 */
export type HighestHead = { latest: number };

type FailoverOptions = {
  chainId: string;
  clock: Clock;
  timing: RpcTiming;
  closing: AbortSignal;
  highestHead: HighestHead;
  countDisagreement: (kind: DisagreementKind) => void;
  /** The providers in the order in which to ask them. */
  providers: () => readonly Provider[];
  /** The maximum number of attempts per provider. */
  roundsMax?: number | undefined;
};

const roundsMaxDefault = 4;
const pauseMs = 100;

export const createProviderFailover = (options: FailoverOptions): ProviderFailover => {
  const { closing, countDisagreement, highestHead, providers } = options;
  const run = createRun(options);
  const runOnOther: ProviderFailover["runOnOther"] = async (provider, attempt) => {
    for (const otherProvider of providers()) {
      if (otherProvider === provider || closing.aborted) continue;
      const result = await runAttempt(otherProvider, attempt);
      if ("value" in result) return result.value;
    }
    return undefined;
  };
  return {
    run,
    runOnOther,
    ...createKnownReads({ run, runOnOther, countDisagreement }),
    readHeads: async (fetchHeads) => {
      const firstResult = await run("the heads", async (provider) => ({
        provider,
        heads: await fetchHeads(provider),
      }));
      let { heads } = firstResult;
      if (heads.latest < highestHead.latest) {
        countDisagreement("backward_head");
        const otherHeads = await runOnOther(firstResult.provider, fetchHeads);
        if (otherHeads !== undefined && otherHeads.latest > heads.latest) heads = otherHeads;
      }
      highestHead.latest = heads.latest;
      return heads;
    },
    readChain: async () => {
      const servedChain = await providers()[0]
        ?.fetchChain()
        .catch(() => undefined);
      return servedChain ?? run("the chain", (provider) => provider.fetchChain());
    },
  };
};

const createRun =
  ({
    chainId,
    clock,
    closing,
    providers,
    roundsMax = roundsMaxDefault,
    timing,
  }: FailoverOptions): ProviderFailover["run"] =>
  async (description, attempt) => {
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
  };

/** Creates the reads of items by their keys. */
const createKnownReads = ({
  run,
  runOnOther,
  countDisagreement,
}: Pick<ProviderFailover, "run" | "runOnOther"> & Pick<FailoverOptions, "countDisagreement">): Pick<
  ProviderFailover,
  "readKnown" | "readKnownOrFaults"
> => {
  /** Fetches items from a provider, and the missing and invalid ones from another provider. */
  const fetchFromTwo = async <Key extends string, T>(
    provider: Provider,
    { keys, fetchItems }: KnownItemsQuery<Key, T>,
  ): Promise<ReadonlyMap<Key, T | RpcFault>> => {
    const items = await fetchItems(provider, keys);
    const openKeys = keys.filter((key) => !items.has(key) || items.get(key) instanceof RpcFault);
    if (openKeys.length === 0) return items;
    if (openKeys.some((key) => items.has(key))) countDisagreement("invalid_item");
    const otherItems = await runOnOther(provider, (otherProvider) =>
      fetchItems(otherProvider, openKeys),
    );
    const foundItems = listValid(otherItems ?? new Map<Key, T>());
    if (foundItems.some(([key]) => !items.has(key))) countDisagreement("missing_receipt");
    return new Map([...items, ...(otherItems ?? [])]);
  };
  return {
    readKnown: async (description, { keys, fetchItems, mustExist = false }) => {
      const uniqueKeys = [...new Set(keys)];
      if (uniqueKeys.length === 0) return new Map();
      return run(description, async (provider) => {
        const items = await fetchFromTwo(provider, { keys: uniqueKeys, fetchItems });
        const validItems = new Map(listValid(items));
        const fault = [...items.values()].find((item) => item instanceof RpcFault);
        if (fault !== undefined && (mustExist || validItems.size === 0)) throw fault;
        if (mustExist && validItems.size < uniqueKeys.length) {
          throw new RpcFault("behind", `${description} that must exist are missing`);
        }
        return validItems;
      });
    },
    readKnownOrFaults: async (description, { keys, fetchItems }) => {
      const uniqueKeys = [...new Set(keys)];
      if (uniqueKeys.length === 0) return new Map();
      return run(description, (provider) =>
        fetchFromTwo(provider, { keys: uniqueKeys, fetchItems }),
      );
    },
  };
};

const listValid = <Key, T>(items: ReadonlyMap<Key, T | RpcFault>): [Key, T][] =>
  [...items].flatMap(([key, item]): [Key, T][] => (item instanceof RpcFault ? [] : [[key, item]]));

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
