import type { Clock, Log } from "@payment-links/runtime";
import { type Heads, selectTrustedHead } from "../domain/plan-scan.ts";
import type { ChainReader, ChainReaders, Verifier } from "../watch/chain-reader.ts";
import { type ProviderFailover, createProviderFailover } from "./provider-failover.ts";
import type { Dialect } from "./dialect.ts";
import { type Provider, type RpcTiming, createProvider } from "./provider.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";

/** The highest head that the chain's providers have reported. A node with a lower head lags. */
export type HighestHead = { latest: number };

/** What a chain family's reads receive to query the providers in turn. */
export type ReaderContext = {
  chainId: string;
  /** The chain name that a correct node returns. */
  chainName: string;
  failover: ProviderFailover;
  /** The providers in the order in which to ask them now. */
  providers: () => readonly Provider[];
  highestHead: HighestHead;
  clock: Clock;
  metrics: RpcMetrics;
};

/** The providers of a chain, and how to query them. */
export type ProvidersOptions = {
  chainId: string;
  /** Secrets: the URLs of the chain's providers, the preferred one first. */
  urls: readonly string[];
  /**
   * The chain-specific part of the protocol. Responses of a provider that serves another chain are
   * never used.
   */
  dialect: Dialect;
  /** The maximum number of blocks per request for payments. */
  rangeBlocksMax: number;
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  timing?: Partial<RpcTiming>;
};

const defaultTiming: RpcTiming = {
  timeoutMs: 10_000,
  cooldownMs: 500,
  cooldownMsMax: 30_000,
  failoverMsMax: 20_000,
};

const demotedMs = 10 * 60_000;

/** Creates one chain's readers over all its providers. Sends nothing before the first call. */
export const createChainReaders = <Reader extends Pick<ChainReader, "readHeads">>(
  options: ProvidersOptions,
  createReader: (context: ReaderContext) => Reader,
): ChainReaders<Reader> => {
  const { chainId, clock, metrics } = options;
  const { chainName } = options.dialect;
  const closing = new AbortController();
  const timing = { ...defaultTiming, ...options.timing };
  const providers = options.urls.map((url, index) =>
    createProvider({ ...options, url, index, timing, closing: closing.signal }),
  );
  if (providers.length === 0) throw new RangeError(`chain ${options.chainId} has no RPC provider`);

  const providerOrder = createProviderOrder(providers, clock);
  const createReaderOver = (
    listProviders: () => readonly Provider[],
    highestHead: HighestHead,
    roundsMax?: number,
  ) => {
    const failover = createProviderFailover({
      ...options,
      timing,
      closing: closing.signal,
      providers: listProviders,
      roundsMax,
    });
    return createReader({
      chainId,
      chainName,
      clock,
      metrics,
      failover,
      providers: listProviders,
      highestHead,
    });
  };

  const highestHead: HighestHead = { latest: 0 };
  const reader = createReaderOver(providerOrder.listInOrder, highestHead);
  const verifiers = providers.map((provider): Verifier<Reader> => ({
    id: provider.id,
    // Asked in one round only, because an unreachable provider must not delay what the others show.
    // It is asked again soon anyway.
    reader:
      providers.length === 1
        ? reader
        : createReaderOver(() => providerOrder.selectActive([provider]), { latest: 0 }, 1),
  }));
  const readersById = new Map(
    providers.map((provider) => [
      provider.id,
      providers.length === 1 ? reader : createReaderOver(() => [provider], { latest: 0 }, 1),
    ]),
  );
  return {
    reader,
    verifiers,
    readHeadsByProvider: async () => {
      const headsByProvider = await readHeadsByProvider(verifiers);
      highestHead.latest = selectTrustedHead([...headsByProvider.values()]);
      return headsByProvider;
    },
    demote: providerOrder.demote,
    getProviderReader: (providerId) => {
      const providerReader = readersById.get(providerId);
      if (providerReader === undefined)
        throw new RangeError(`chain ${chainId} has no such provider`);
      return providerReader;
    },
    ignoreProviders: providerOrder.ignoreProviders,
    close: () => closing.abort("closed"),
  };
};

/** Determines the order in which to ask providers: demoted ones last, ignored ones never. */
const createProviderOrder = (providers: readonly Provider[], clock: Clock) => {
  const demotedUntilMs = new Map<string, number>();
  const isDemoted = ({ id }: Provider) => (demotedUntilMs.get(id) ?? 0) > clock.elapsedMs();
  let ignoredIds: ReadonlySet<string> = new Set();
  const selectActive = (candidates: readonly Provider[]) =>
    candidates.filter(({ id }) => !ignoredIds.has(id));
  const listInOrder = () => {
    const activeProviders = selectActive(providers);
    return [
      ...activeProviders.filter((provider) => !isDemoted(provider)),
      ...activeProviders.filter(isDemoted),
    ];
  };
  return {
    selectActive,
    listInOrder,
    demote: (
      ids: readonly string[] = listInOrder()
        .slice(0, 1)
        .map(({ id }) => id),
    ) => {
      for (const id of ids) demotedUntilMs.set(id, clock.elapsedMs() + demotedMs);
    },
    ignoreProviders: (providerIds: readonly string[]) => {
      ignoredIds = new Set(providerIds);
    },
  };
};

/** Throws if no provider answers. */
const readHeadsByProvider = async (
  verifiers: readonly Verifier<Pick<ChainReader, "readHeads">>[],
): Promise<ReadonlyMap<string, Heads>> => {
  const pendingHeads = verifiers.map(
    async ({ id, reader }) => [id, await reader.readHeads()] as const,
  );
  const results = await Promise.allSettled(pendingHeads);
  const headEntries = results.flatMap((result) =>
    result.status === "fulfilled" ? [result.value] : [],
  );
  const failure = results.find((result) => result.status === "rejected");
  if (headEntries.length === 0 && failure !== undefined) throw failure.reason;
  return new Map(headEntries);
};
