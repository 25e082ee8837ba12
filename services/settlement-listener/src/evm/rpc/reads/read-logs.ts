import { type Hex, numberToHex } from "viem";
import type { ChainReader, BlockHeader, ProxyLog } from "../chain-reader.ts";
import type { Turn } from "../provider/ask-in-turn.ts";
import type { Question } from "../provider/json-rpc.ts";
import { type PlacedLog, readPlacedLogs } from "../provider/node-answers.ts";
import type { Provider } from "../provider/provider.ts";
import { RpcFault } from "../provider/rpc-fault.ts";
import type { RpcMetrics } from "../rpc-metrics.ts";
import { askBlockLogs } from "./ask-block-logs.ts";
import { type BloomTest, createBloomTest } from "./bloom.ts";
import { orderLogs } from "./order-logs.ts";
import { headerQuestion } from "./read-headers.ts";

/** A fee proxy's event: nothing else is asked for. */
export type LogFilter = { address: Hex; topic0: Hex };

type LogsOptions = {
  chainId: string;
  turn: Turn;
  metrics: RpcMetrics;
  proxies: readonly LogFilter[];
  /** False where headers carry no bloom that says anything (Tron's is always zero). */
  isBloomKept: boolean;
};

type LogRange = Parameters<ChainReader["readLogs"]>[0];
type Span = { logs: PlacedLog[]; end: BlockHeader };

/** Reads the proxies' logs; see `ChainReader`. */
export const createReadLogs = (options: LogsOptions): ChainReader["readLogs"] => {
  const { turn } = options;
  const watched = options.proxies.map(({ address, topic0 }) => ({
    address: lower(address),
    topic0: lower(topic0),
  }));
  const proxies = watched.map((proxy) => ({
    ...proxy,
    mayHold: createBloomTest([proxy.address, proxy.topic0]),
  }));
  const scope = { ...options, proxies };
  return async (range) =>
    turn.ask("logs", async (provider) => {
      const span = await askSpan(scope, provider, range);
      const headers = (range.headers ?? []).filter(({ number }) => number >= range.fromBlock);
      const logs = await complete(scope, provider, { ...span, headers });
      return { logs: logs.map(dropIndex), end: span.end, readBy: provider.id };
    });
};

type WatchedLog = LogFilter & { mayHold: BloomTest };
type Scope = Omit<LogsOptions, "proxies"> & { proxies: readonly WatchedLog[] };

const halvingsMax = 32;

/**
 * Asks for as many blocks as the provider bears, and for fewer if it refuses. Of one block that is
 * still too much, it asks for the receipts.
 */
const askSpan = async (scope: Scope, provider: Provider, range: LogRange): Promise<Span> => {
  for (let halvings = 0; halvings <= halvingsMax; halvings += 1) {
    const wanted = range.toBlock - range.fromBlock + 1;
    const blockCount = Math.min(wanted, provider.range.blocksMax());
    try {
      const toBlock = range.fromBlock + blockCount - 1;
      const span = await askLogs(scope, provider, { ...range, toBlock });
      provider.range.grow(blockCount);
      return span;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      if (error.kind === "range" || error.kind === "timeout") provider.range.shrink(blockCount);
      if (error.kind !== "range") throw error;
      if (blockCount <= 1) return askBlock(scope, provider, range);
    }
  }
  throw new RpcFault("range", "ranges are refused, however small");
};

/** The same for a single block, by its receipts. */
const askBlock = async (
  { chainId, metrics, proxies }: Scope,
  provider: Provider,
  { fromBlock, headers }: LogRange,
): Promise<Span> => {
  const [end] = await provider.ask([headerQuestion(fromBlock)]);
  if (end === null) throw new RpcFault("behind", "a node that has not come so far");
  const found = await askBlockLogs(provider, end, addressesOf(proxies));
  const known = headers?.find(({ number }) => number === fromBlock);
  const ordered = orderLogs(found, {
    proxies,
    fromBlock,
    toBlock: fromBlock,
    blocks: known?.hash === end.hash ? (headers ?? []) : [end],
  });
  if (ordered.repeatedCount > 0) metrics.disagreed(chainId, "duplicate_logs");
  return { logs: ordered.logs, end };
};

const addressesOf = (proxies: readonly LogFilter[]): ReadonlySet<Hex> =>
  new Set(proxies.map(({ address }) => address));

/**
 * The end of the range is asked for together with the logs, so that the same node behind the
 * provider's address answers both, and once more afterwards: if both answers are equal, the chain
 * did not move in between.
 */
const askLogs = async (
  { chainId, metrics, proxies }: Scope,
  provider: Provider,
  { fromBlock, toBlock, headers }: LogRange,
): Promise<Span> => {
  const place = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const endQuestion = headerQuestion(toBlock);
  const [logs, before] = await provider.ask([logsQuestion(proxies, place), endQuestion]);
  if (before === null) throw new RpcFault("behind", "a node that has not come so far");
  const [end] = await provider.ask([endQuestion]);
  if (end?.hash !== before.hash) throw new RpcFault("behind", "the chain moved while it was read");
  const known = headers?.find((header) => header.number === toBlock)?.hash === end.hash;
  const ordered = orderLogs(logs, {
    proxies,
    fromBlock,
    toBlock,
    blocks: known ? (headers ?? []) : [end],
  });
  if (ordered.repeatedCount > 0) metrics.disagreed(chainId, "duplicate_logs");
  return { logs: ordered.logs, end };
};

type Found = Span & { headers: readonly BlockHeader[] };

/**
 * Checks the logs against the blooms. Blocks whose logs may be missing are asked for by hash: a
 * node that does not know the block then says so, instead of answering that there is nothing. The
 * same provider is asked first, then another.
 */
const complete = async (scope: Scope, provider: Provider, found: Found): Promise<PlacedLog[]> => {
  const { chainId, isBloomKept, metrics, turn } = scope;
  const known = found.headers.find((header) => header.number === found.end.number);
  // These logs are of another chain than the headers: the caller sees that by the end's hash.
  if (!isBloomKept || (known !== undefined && known.hash !== found.end.hash)) return found.logs;
  const covered = found.headers.filter((header) => header.number <= found.end.number);

  let logs = found.logs;
  const add = (more: readonly PlacedLog[] | undefined) => {
    // A block may have known logs of one proxy and still be suspected of missing those of another.
    const known = new Set(logs.map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`));
    const missed = (more ?? []).filter(
      ({ blockNumber, logIndex }) => !known.has(`${blockNumber}:${logIndex}`),
    );
    if (missed.length === 0) return;
    metrics.disagreed(chainId, "missing_logs");
    logs = [...logs, ...missed].sort(byPlace);
  };
  let suspects = listSuspects(scope, covered, logs);
  if (suspects.length === 0) return logs;
  add(await askBlocks(scope, provider, suspects));
  suspects = listSuspects(scope, suspects, logs);
  if (suspects.length === 0) return logs;
  add(await turn.askOther(provider, (other) => askBlocks(scope, other, suspects)));
  for (const _ of listSuspects(scope, suspects, logs)) {
    metrics.disagreed(chainId, "unexplained_bloom");
  }
  return logs;
};

/** The blocks that, by their bloom, may hold a log of a proxy of which the answer has none. */
const listSuspects = (
  { proxies }: Scope,
  headers: readonly BlockHeader[],
  logs: readonly PlacedLog[],
): BlockHeader[] => {
  const seen = new Set(logs.map((log) => placeOf(log.blockNumber, log.address, log.topics[0])));
  return headers.filter(({ number, logsBloom }) =>
    proxies.some(
      ({ address, mayHold, topic0 }) =>
        mayHold(logsBloom) && !seen.has(placeOf(number, address, topic0)),
    ),
  );
};

const placeOf = (blockNumber: number, address: Hex, topic0: Hex | undefined): string =>
  `${blockNumber} ${address} ${topic0 ?? ""}`;

const askBlocks = async (
  { proxies }: Scope,
  provider: Provider,
  headers: readonly BlockHeader[],
): Promise<PlacedLog[]> => {
  const ask = (asked: readonly BlockHeader[]) =>
    provider.askMany(asked.map(({ hash }) => logsQuestion(proxies, { blockHash: hash })));
  const askAlone = async (header: BlockHeader): Promise<PlacedLog[]> => {
    const [logs = []] = await ask([header]).catch(async (error: unknown) => {
      if (!isTooMuch(error)) throw error;
      return [await askBlockLogs(provider, header, addressesOf(proxies))];
    });
    return logs;
  };
  const answers = await ask(headers).catch(async (error: unknown) => {
    if (!isTooMuch(error)) throw error;
    const alone = [];
    for (const header of headers) alone.push(await askAlone(header));
    return alone;
  });
  return headers.flatMap((header, index) => {
    const { number } = header;
    const place = { proxies, fromBlock: number, toBlock: number, blocks: [header] };
    return orderLogs(answers[index] ?? [], place).logs;
  });
};

const isTooMuch = (error: unknown): boolean => error instanceof RpcFault && error.kind === "range";

const logsQuestion = (
  proxies: readonly LogFilter[],
  place: { blockHash: Hex } | { fromBlock: Hex; toBlock: Hex },
): Question<(PlacedLog & { removed?: boolean | undefined })[]> => ({
  method: "eth_getLogs",
  params: [
    {
      ...place,
      address: proxies.map(({ address }) => address),
      topics: [[...new Set(proxies.map(({ topic0 }) => topic0))]],
    },
  ],
  read: readPlacedLogs,
});

const byPlace = (a: PlacedLog, b: PlacedLog): number =>
  a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;

/**
 * A log's place in its whole block changes when it is mined again, so it does not leave this room.
 */
const dropIndex = ({ address, topics, data, ...log }: PlacedLog): ProxyLog => {
  const { blockNumber, blockHash, timestampSeconds, transactionHash } = log;
  const place = { blockNumber, blockHash, transactionHash };
  const time = timestampSeconds === undefined ? {} : { timestampSeconds };
  return { address, topics, data, ...place, ...time };
};

const lower = (text: Hex): Hex => `0x${text.slice(2).toLowerCase()}`;
