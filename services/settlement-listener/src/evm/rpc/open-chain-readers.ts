import type { Hex } from "viem";
import type { Clock, Log } from "@payment-links/runtime";
import type { ChainReader } from "./chain-reader.ts";
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
  reader: ChainReader;
  /**
   * Asks another provider than the one whose logs `reader` took last, as long as another can
   * answer; undefined if there is only one.
   */
  auditor: ChainReader | undefined;
  /** Ends what is under way: its calls throw `ChainUnreachableError`. */
  close(): void;
};

const defaultTiming: RpcTiming = {
  timeoutMs: 10_000,
  restMs: 500,
  restMsMax: 30_000,
  askingMsMax: 20_000,
};

/** Opens one chain's readers over all its providers. Nothing is asked before the first call. */
export const openChainReaders = (options: ChainReadersOptions): ChainReaders => {
  const closing = new AbortController();
  const timing = { ...defaultTiming, ...options.timing };
  const providers = options.urls.map((url, index) =>
    openProvider({ ...options, url, index, timing, closing: closing.signal }),
  );
  const [primary] = providers;
  if (primary === undefined) throw new RangeError(`chain ${options.chainId} has no RPC provider`);

  let answered = primary;
  const memory: HeadMemory = { latest: 0 };
  const open = (order: () => readonly Provider[], onAnswered: (provider: Provider) => void) => {
    const turn = createTurn({ ...options, timing, closing: closing.signal, providers: order });
    return createReader({ ...options, turn, providers: order, memory, onAnswered });
  };
  const audited = () => [...providers.filter((provider) => provider !== answered), answered];
  return {
    reader: open(
      () => providers,
      (provider) => {
        answered = provider;
      },
    ),
    auditor: providers.length > 1 ? open(audited, () => {}) : undefined,
    close: () => closing.abort("closed"),
  };
};

type ReaderOptions = Omit<ChainReadersOptions, "urls" | "timing"> & {
  turn: Turn;
  providers: () => readonly Provider[];
  memory: HeadMemory;
  onAnswered: (provider: Provider) => void;
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
