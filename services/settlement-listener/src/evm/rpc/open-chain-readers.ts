import type { Hex } from "viem";
import type { Clock, Log } from "@payment-links/runtime";
import { type Heads, believeHead } from "../../domain/plan-scan.ts";
import type { ChainReader, Witness } from "./chain-reader.ts";
import { type Turn, createTurn } from "./provider/ask-in-turn.ts";
import { readBytes } from "./provider/node-answers.ts";
import { type Provider, type RpcTiming, openProvider } from "./provider/provider.ts";
import { RpcFault } from "./provider/rpc-fault.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { type HeadMemory, createReadHeads } from "./reads/read-heads.ts";
import { type LogFilter, createReadLogs } from "./reads/read-logs.ts";
import { createTransactionReads } from "./reads/read-transactions.ts";
import type { RpcMetrics } from "./rpc-metrics.ts";

export type ChainReadersOptions = {
  /** The decimal chain id; answers of a provider of another chain are never used. */
  chainId: string;
  /** Secrets: the addresses of the chain's providers, the first one preferred. */
  urls: readonly string[];
  proxies: readonly LogFilter[];
  /** The most blocks that one question for logs covers. */
  rangeBlocksMax: number;
  isBloomKept: boolean;
  clock: Clock;
  log: Log;
  metrics: RpcMetrics;
  timing?: Partial<RpcTiming>;
};

export type ChainReaders = {
  /** Asks whichever provider answers first. */
  reader: ChainReader;
  /** Each provider alone, in the order of the configuration. */
  witnesses: readonly Witness[];
  /** Reads by any provider but one; undefined where there is no other. */
  readerExcept: (id: string) => ChainReader | undefined;
  /**
   * Asks each provider how far the chain is; answers what each told, by its id. `reader` then takes a
   * node that has not come so far for one that is behind.
   */
  readHeadsOfEach: () => Promise<ReadonlyMap<string, Heads>>;
  /** Has `reader` ask these providers last for a while; the one that it asks first if none is named. */
  demote: (ids?: readonly string[]) => void;
  /** Ends what is under way: its calls throw `ChainUnreachableError`. */
  close: () => void;
};

const defaultTiming: RpcTiming = {
  timeoutMs: 10_000,
  restMs: 500,
  restMsMax: 30_000,
  askingMsMax: 20_000,
};

const demotedMs = 10 * 60_000;

/** Opens one chain's readers over all its providers. Nothing is asked before the first call. */
export const openChainReaders = (options: ChainReadersOptions): ChainReaders => {
  const { clock } = options;
  const closing = new AbortController();
  const timing = { ...defaultTiming, ...options.timing };
  const providers = options.urls.map((url, index) =>
    openProvider({ ...options, url, index, timing, closing: closing.signal }),
  );
  if (providers.length === 0) throw new RangeError(`chain ${options.chainId} has no RPC provider`);

  const demotedUntilMs = new Map<string, number>();
  const isDemoted = ({ id }: Provider) => (demotedUntilMs.get(id) ?? 0) > clock.elapsedMs();
  const inOrder = () => [
    ...providers.filter((provider) => !isDemoted(provider)),
    ...providers.filter(isDemoted),
  ];
  const open = (order: () => readonly Provider[], memory: HeadMemory, roundsMax?: number) => {
    const asking = { ...options, timing, closing: closing.signal, providers: order, roundsMax };
    return createReader({ ...options, turn: createTurn(asking), providers: order, memory });
  };

  const memory: HeadMemory = { latest: 0 };
  const reader = open(inOrder, memory);
  const witnesses = providers.map((provider): Witness => ({
    id: provider.id,
    // One that is away must not hold up what the others show; it is asked again soon anyway.
    reader: providers.length === 1 ? reader : open(() => [provider], { latest: 0 }, 1),
  }));
  return {
    reader,
    witnesses,
    readerExcept: (id) =>
      providers.some((provider) => provider.id !== id)
        ? open(() => inOrder().filter((provider) => provider.id !== id), memory)
        : undefined,
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
    close: () => closing.abort("closed"),
  };
};

type ReaderOptions = Omit<ChainReadersOptions, "urls" | "timing"> & {
  turn: Turn;
  providers: () => readonly Provider[];
  memory: HeadMemory;
};

/** Throws where nobody answers. */
const readHeadsOfEach = async (
  witnesses: readonly Witness[],
): Promise<ReadonlyMap<string, Heads>> => {
  const asking = witnesses.map(async ({ id, reader }) => [id, await reader.readHeads()] as const);
  const answers = await Promise.allSettled(asking);
  const told = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (told.length === 0 && failed !== undefined) throw failed.reason;
  return new Map(told);
};

const createReader = (options: ReaderOptions): ChainReader => {
  const { turn } = options;
  return {
    readHeads: createReadHeads(options),
    readHeaders: createReadHeaders(options),
    readLogs: createReadLogs(options),
    ...createTransactionReads(options),
    readCode: (address) => turn.ask("code", (provider) => askCode(provider, address)),
    call: (to, data) => turn.ask("a call", (provider) => askCall(provider, { to, data })),
    readChainId: () => readChainId(options),
  };
};

// A provider of another chain is reported, although others may serve the right one.
const readChainId = async ({ chainId, providers, turn }: ReaderOptions): Promise<number> => {
  const asking = providers().map((provider) => provider.askChainId().catch(() => undefined));
  const known = (await Promise.all(asking)).filter((found) => found !== undefined);
  const found = known.find((other) => String(other) !== chainId) ?? known[0];
  return found ?? turn.ask("the chain id", (provider) => provider.askChainId());
};

const askCode = async (provider: Provider, address: Hex): Promise<Hex> => {
  const question = {
    method: "eth_getCode",
    params: [address, "latest"],
    read: readBytes,
  };
  const [code] = await provider.ask([question]);
  return code;
};

const askCall = async (
  provider: Provider,
  call: { to: Hex; data: Hex },
): Promise<Hex | undefined> => {
  const question = { method: "eth_call", params: [call, "latest"], read: readBytes };
  try {
    const [answer] = await provider.ask([question]);
    return answer;
  } catch (error) {
    if (error instanceof RpcFault && error.kind === "reverted") return undefined;
    throw error;
  }
};
