import type { Clock, Log } from "@payment-links/runtime";
import { type Heads, believeHead } from "../domain/plan-scan.ts";
import type { ChainReader, ChainReaders, Witness } from "../watch/chain-reader.ts";
import { type Turn, createTurn } from "./ask-in-turn.ts";
import type { Dialect } from "./dialect.ts";
import { type Provider, type RpcTiming, openProvider } from "./provider.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";

/**
 * The furthest head that any provider of a chain has reported; a node with a lower one is behind.
 */
export type HeadMemory = { latest: number };

/** What a family's reads are given: whom they may ask, one after the other. */
export type ReaderGround = {
  chainId: string;
  /** What the right node says that it serves. */
  chainName: string;
  turn: Turn;
  /** The providers in the order in which they are to be asked now. */
  providers: () => readonly Provider[];
  memory: HeadMemory;
  clock: Clock;
  metrics: RpcMetrics;
};

/** The providers of a chain, and how each is asked. */
export type ProvidersOptions = {
  chainId: string;
  /** Secrets: the addresses of the chain's providers, the first one preferred. */
  urls: readonly string[];
  /** How its nodes speak; answers of a provider of another chain are never used. */
  dialect: Dialect;
  /** The most blocks that one question for payments covers. */
  rangeBlocksMax: number;
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  timing?: Partial<RpcTiming>;
};

const defaultTiming: RpcTiming = {
  timeoutMs: 10_000,
  restMs: 500,
  restMsMax: 30_000,
  askingMsMax: 20_000,
};

const demotedMs = 10 * 60_000;

/** Opens one chain's readers over all its providers. Nothing is asked before the first call. */
export const openChainReaders = <Reader extends Pick<ChainReader, "readHeads">>(
  options: ProvidersOptions,
  createReader: (ground: ReaderGround) => Reader,
): ChainReaders<Reader> => {
  const { chainId, clock, metrics } = options;
  const { chainName } = options.dialect;
  const closing = new AbortController();
  const timing = { ...defaultTiming, ...options.timing };
  const providers = options.urls.map((url, index) =>
    openProvider({ ...options, url, index, timing, closing: closing.signal }),
  );
  if (providers.length === 0) throw new RangeError(`chain ${options.chainId} has no RPC provider`);

  const demotedUntilMs = new Map<string, number>();
  const isDemoted = ({ id }: Provider) => (demotedUntilMs.get(id) ?? 0) > clock.elapsedMs();
  let ignoredIds: ReadonlySet<string> = new Set();
  const inUse = (some: readonly Provider[]) => some.filter(({ id }) => !ignoredIds.has(id));
  const inOrder = () => {
    const used = inUse(providers);
    return [...used.filter((provider) => !isDemoted(provider)), ...used.filter(isDemoted)];
  };
  const open = (order: () => readonly Provider[], memory: HeadMemory, roundsMax?: number) => {
    const asking = { ...options, timing, closing: closing.signal, providers: order, roundsMax };
    const turn = createTurn(asking);
    return createReader({ chainId, chainName, clock, metrics, turn, providers: order, memory });
  };

  const memory: HeadMemory = { latest: 0 };
  const reader = open(inOrder, memory);
  const witnesses = providers.map((provider): Witness<Reader> => ({
    id: provider.id,
    // One that is away must not hold up what the others show; it is asked again soon anyway.
    reader: providers.length === 1 ? reader : open(() => inUse([provider]), { latest: 0 }, 1),
  }));
  const readersById = new Map(
    providers.map((provider) => [
      provider.id,
      providers.length === 1 ? reader : open(() => [provider], { latest: 0 }, 1),
    ]),
  );
  return {
    reader,
    witnesses,
    readHeadsOfEach: async () => {
      const told = await readHeadsOfEach(witnesses);
      memory.latest = believeHead([...told.values()]);
      return told;
    },
    demote: (
      ids = inOrder()
        .slice(0, 1)
        .map(({ id }) => id),
    ) => {
      for (const id of ids) demotedUntilMs.set(id, clock.elapsedMs() + demotedMs);
    },
    readerOf: (providerId) => {
      const found = readersById.get(providerId);
      if (found === undefined) throw new RangeError(`chain ${chainId} has no such provider`);
      return found;
    },
    ignore: (providerIds) => {
      ignoredIds = new Set(providerIds);
    },
    close: () => closing.abort("closed"),
  };
};

/** Throws where nobody answers. */
const readHeadsOfEach = async (
  witnesses: readonly Witness<Pick<ChainReader, "readHeads">>[],
): Promise<ReadonlyMap<string, Heads>> => {
  const asking = witnesses.map(async ({ id, reader }) => [id, await reader.readHeads()] as const);
  const answers = await Promise.allSettled(asking);
  const told = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (told.length === 0 && failed !== undefined) throw failed.reason;
  return new Map(told);
};
