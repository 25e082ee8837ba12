import type { Clock, Log } from "@payment-links/runtime";
import type { ChainReaders, Verifier } from "../reads/chain-reader.ts";
import {
  type HighestHead,
  type ProviderFailover,
  createProviderFailover,
} from "./provider-failover.ts";
import { type Dialect, type Provider, type RpcTiming, createProvider } from "./provider.ts";
import type { DisagreementKind, RpcMetrics } from "./rpc-metrics.ts";

/** The dependencies of a chain family's reads. */
export type ReaderContext = {
  failover: ProviderFailover;
  highestHead: Readonly<HighestHead>;
  clock: Clock;
  countDisagreement: (kind: DisagreementKind) => void;
};

/** The providers of a chain, and the settings for requests to them. */
export type ProvidersOptions = {
  chainId: string;
  /** The URLs of the chain's providers, preferred provider first. The URLs are secrets. */
  urls: readonly string[];
  /**
   * The chain-specific part of the JSON-RPC protocol. It detects a provider that serves another
   * chain, whose responses are not used.
   */
  dialect: Dialect;
  /** The maximum number of blocks in one request for payments. */
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

/** Creates the readers of one chain. Sends no request before the first call. */
export const createChainReaders = <Reader>(
  options: ProvidersOptions,
  createReader: (context: ReaderContext) => Reader,
): ChainReaders<Reader> => {
  const { chainId, clock, metrics } = options;
  const countDisagreement = (kind: DisagreementKind) => metrics.countDisagreement(chainId, kind);
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
      highestHead,
      countDisagreement,
      providers: listProviders,
      roundsMax,
    });
    return createReader({ failover, highestHead, clock, countDisagreement });
  };

  const highestHead: HighestHead = { latest: 0 };
  const reader = createReaderOver(providerOrder.listInOrder, highestHead);
  const verifiers = providers.map((provider): Verifier<Reader> => ({
    id: provider.id,
    // A verifier tries its provider only once, because an unreachable provider must not delay the
    // results of the others. The next step asks it again.
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
    expectHead: (head) => {
      highestHead.latest = head;
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

/**
 * Determines the order in which to ask providers. Demoted providers come last, and ignored
 * providers are left out.
 */
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
