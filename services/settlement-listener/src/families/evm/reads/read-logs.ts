import { type Hex, numberToHex } from "viem";
import type { EvmHeader, EvmReads, ProxyLog } from "../evm-reads.ts";
import type { Turn } from "../../../rpc/ask-in-turn.ts";
import { chunk } from "../../../rpc/chunk.ts";
import type { Question } from "../../../rpc/json-rpc.ts";
import { amountOfTransfer, transferEvent } from "../decode-event.ts";
import { type PlacedLog, readPlacedLogs } from "../node-answers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { RpcMetrics } from "../../../rpc/rpc-metrics.ts";
import { askBlockLogs } from "./ask-block-logs.ts";
import { type BloomTest, createBloomTest, readBloom } from "./bloom.ts";
import { orderLogs } from "./order-logs.ts";
import type { KnownPayees, Payees } from "./payees.ts";
import { type DepositQuestion, payeesPerQuestion, planDepositLogs } from "./plan-deposit-logs.ts";
import { headerQuestion } from "./read-headers.ts";

/** A contract and its event: of nothing else logs are asked for. */
export type LogFilter = { address: Hex; topic0: Hex };

/** Which logs are read, and what tells that some are missing. */
export type WatchedLogs = {
  proxies: readonly LogFilter[];
  /** The contracts whose logs of a receipt are kept: the proxies and the tokens. */
  contracts: ReadonlySet<Hex>;
  /** False where headers carry no bloom that says anything (Tron's is always zero). */
  isBloomKept: boolean;
  deposits?: WatchedDeposits;
};

/** Which transfers to owners are read. */
export type WatchedDeposits = {
  /** The tokens, and the least base units that count. */
  tokens: readonly { address: Hex; minimum: bigint }[];
  payees: Payees;
};

type LogsOptions = WatchedLogs & { chainId: string; turn: Turn; metrics: RpcMetrics };

type LogRange = Parameters<EvmReads["readLogs"]>[0];
type Span = { logs: PlacedLog[]; end: EvmHeader };

/** Reads the proxies' logs; see `EvmReads`. */
export const createReadLogs = (options: LogsOptions): EvmReads["readLogs"] => {
  const { turn } = options;
  const watched = options.proxies.map(({ address, topic0 }) => ({
    address: lower(address),
    topic0: lower(topic0),
  }));
  const proxies = watched.map((proxy) => ({
    ...proxy,
    mayHold: createBloomTest([proxy.address, proxy.topic0]),
  }));
  const tokens = (options.deposits?.tokens ?? []).map(({ address, minimum }) => ({
    address: lower(address),
    topic0: transferEvent.topic0,
    minimum,
    mayHold: createBloomTest([address, transferEvent.topic0]),
  }));
  const density = { transfersPerBlock: transfersPerBlockAtFirst };
  const narrowProviders = new Set<string>();
  const readPayees = options.deposits?.payees.read ?? readNobody;
  return async (range) => {
    const scope = {
      ...options,
      proxies,
      tokens,
      density,
      narrowProviders,
      payees: await readPayees(),
    };
    return turn.ask("logs", async (provider) => {
      const span = await askSpan(scope, provider, range);
      const headers = (range.headers ?? []).filter(({ number }) => number >= range.fromBlock);
      const logs = await complete(scope, provider, { ...span, headers });
      return { logs: logs.map(dropIndex), end: span.end, readBy: provider.id };
    });
  };
};

/** About as many as on a busy chain, until it is known. */
const transfersPerBlockAtFirst = 200;
const readNobody = async (): Promise<KnownPayees> => ({
  all: [],
  isPayee: () => false,
  listHeld: async () => [],
});

type WatchedLog = LogFilter & { mayHold: BloomTest };
type WatchedToken = WatchedLog & { minimum: bigint };
type Scope = Omit<LogsOptions, "proxies" | "deposits"> & {
  proxies: readonly WatchedLog[];
  tokens: readonly WatchedToken[];
  payees: KnownPayees;
  /** How many transfers of the tokens a block held when all were last read. */
  density: { transfersPerBlock: number };
  /** The providers that take no more than a thousand values for one topic. */
  narrowProviders: Set<string>;
};

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
      const isWide = scope.payees.all.length > payeesPerQuestion.afterRefusal;
      if (error.kind === "range" && isWide && !scope.narrowProviders.has(provider.id)) {
        scope.narrowProviders.add(provider.id);
        continue;
      }
      if (error.kind === "range" || error.kind === "timeout") provider.range.shrink(blockCount);
      if (error.kind !== "range") throw error;
      if (blockCount <= 1) return askBlock(scope, provider, range);
    }
  }
  throw new RpcFault("range", "ranges are refused, however small");
};

/** The same for a single block, by its receipts. */
const askBlock = async (
  scope: Scope,
  provider: Provider,
  { fromBlock, headers }: LogRange,
): Promise<Span> => {
  const { chainId, metrics } = scope;
  const filters = [...scope.proxies, ...(scope.payees.all.length === 0 ? [] : scope.tokens)];
  const [end] = await provider.ask([headerQuestion(fromBlock)]);
  if (end === null) throw new RpcFault("behind", "a node that has not come so far");
  const found = await askBlockLogs(provider, end, addressesOf(filters));
  const known = headers?.find(({ number }) => number === fromBlock);
  const ordered = orderLogs(found, {
    filters,
    fromBlock,
    toBlock: fromBlock,
    blocks: known?.hash === end.hash ? (headers ?? []) : [end],
  });
  if (ordered.repeatedCount > 0) metrics.disagreed(chainId, "duplicate_logs");
  return { logs: keepDeposits(scope, ordered.logs), end };
};

const addressesOf = (filters: readonly LogFilter[]): ReadonlySet<Hex> =>
  new Set(filters.map(({ address }) => address));

/**
 * The end of the range is asked for together with the logs, so that the same node behind the
 * provider's address answers both, and once more afterwards: if both answers are equal, the chain
 * did not move in between.
 */
const askLogs = async (scope: Scope, provider: Provider, range: LogRange): Promise<Span> => {
  const { chainId, metrics, proxies, tokens } = scope;
  const { fromBlock, toBlock, headers } = range;
  const place = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const endQuestion = headerQuestion(toBlock);
  const [first = [], ...more] = await planDeposits(scope, provider, range);
  const [logs, before, ...toOwners] = await provider.ask([
    logsQuestion(proxies, place),
    endQuestion,
    ...first.map(({ to }) => logsQuestion(tokens, place, to)),
  ]);
  if (before === null) throw new RpcFault("behind", "a node that has not come so far");
  for (const some of more) {
    const [still, ...found] = await provider.ask([
      endQuestion,
      ...some.map(({ to }) => logsQuestion(tokens, place, to)),
    ]);
    if (still?.hash !== before.hash) throw new RpcFault("behind", movedMessage);
    toOwners.push(...found);
  }
  const [end] = await provider.ask([endQuestion]);
  if (end?.hash !== before.hash) throw new RpcFault("behind", movedMessage);
  const known = headers?.find((header) => header.number === toBlock)?.hash === end.hash;
  if (first[0] !== undefined && first[0].to === undefined) {
    scope.density.transfersPerBlock = toOwners.flat().length / (toBlock - fromBlock + 1);
  }
  const ordered = orderLogs([...logs, ...toOwners.flat()], {
    filters: toOwners.length === 0 ? proxies : [...proxies, ...tokens],
    fromBlock,
    toBlock,
    blocks: known ? (headers ?? []) : [end],
  });
  if (ordered.repeatedCount > 0) metrics.disagreed(chainId, "duplicate_logs");
  return { logs: keepDeposits(scope, ordered.logs), end };
};

const movedMessage = "the chain moved while it was read";
const depositQuestionsAtOnce = 4;

/**
 * The questions for transfers to owners, those of one request together. Where the provider's blooms tell
 * of each block, the owners that none of them may hold are left out; a false alarm costs a name and no
 * question. By another's bloom one provider would hide what the audit, which may be made by it, then
 * hides as well.
 */
const planDeposits = async (
  { density, isBloomKept, narrowProviders, payees, tokens }: Scope,
  provider: Provider,
  { fromBlock, toBlock, headers }: LogRange,
): Promise<readonly (readonly DepositQuestion[])[]> => {
  if (payees.all.length === 0 || tokens.length === 0) return [];
  const blockCount = toBlock - fromBlock + 1;
  const inRange = headers?.filter(({ number }) => number >= fromBlock && number <= toBlock) ?? [];
  const areOwn = inRange.every(({ readBy }) => readBy === provider.id);
  const areTold = isBloomKept && areOwn && inRange.length === blockCount;
  const blooms = areTold
    ? inRange
        .map(({ logsBloom }) => readBloom(logsBloom))
        .filter((bloom) => tokens.some(({ mayHold }) => mayHold(bloom)))
    : [];
  const questions = planDepositLogs({
    blockCount,
    payees: areTold ? await payees.listHeld(blooms) : payees.all,
    payeesMax: narrowProviders.has(provider.id)
      ? payeesPerQuestion.afterRefusal
      : payeesPerQuestion.atFirst,
    ...density,
  });
  return chunk(questions, depositQuestionsAtOnce);
};

/** Of tokens' logs, keeps the transfers to owners that are more than dust; spam costs no receipt. */
const keepDeposits = ({ payees, tokens }: Scope, logs: readonly PlacedLog[]): PlacedLog[] => {
  const minimums = new Map(tokens.map(({ address, minimum }) => [address, minimum]));
  return logs.filter((log) => {
    const minimum = minimums.get(log.address);
    if (minimum === undefined) return true;
    const [, from, to] = log.topics;
    if (to === undefined || from === to || !payees.isPayee(to)) return false;
    const amount = amountOfTransfer(log) ?? 0n;
    return amount > 0n && amount >= minimum;
  });
};

type Found = Span & { headers: readonly EvmHeader[] };

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
  headers: readonly EvmHeader[],
  logs: readonly PlacedLog[],
): EvmHeader[] => {
  const seen = new Set(logs.map((log) => placeOf(log.blockNumber, log.address, log.topics[0])));
  return headers.filter(({ number, logsBloom }) => {
    const bloom = readBloom(logsBloom);
    return proxies.some(
      ({ address, mayHold, topic0 }) =>
        mayHold(bloom) && !seen.has(placeOf(number, address, topic0)),
    );
  });
};

const placeOf = (blockNumber: number, address: Hex, topic0: Hex | undefined): string =>
  `${blockNumber} ${address} ${topic0 ?? ""}`;

const askBlocks = async (
  { proxies }: Scope,
  provider: Provider,
  headers: readonly EvmHeader[],
): Promise<PlacedLog[]> => {
  const ask = (asked: readonly EvmHeader[]) =>
    provider.askMany(asked.map(({ hash }) => logsQuestion(proxies, { blockHash: hash })));
  const askAlone = async (header: EvmHeader): Promise<PlacedLog[]> => {
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
    const place = { filters: proxies, fromBlock: number, toBlock: number, blocks: [header] };
    return orderLogs(answers[index] ?? [], place).logs;
  });
};

const isTooMuch = (error: unknown): boolean => error instanceof RpcFault && error.kind === "range";

const logsQuestion = (
  filters: readonly LogFilter[],
  place: { blockHash: Hex } | { fromBlock: Hex; toBlock: Hex },
  to?: readonly Hex[],
): Question<(PlacedLog & { removed?: boolean | undefined })[]> => {
  const topics0 = new Set(filters.map(({ topic0 }) => topic0));
  return {
    method: "eth_getLogs",
    params: [
      {
        ...place,
        address: filters.map(({ address }) => address),
        topics: [[...topics0], ...(to === undefined ? [] : [null, to])],
      },
    ],
    // A log of another event may be one of these, garbled: whoever passed over it would miss it.
    read: (result) => {
      const logs = readPlacedLogs(result);
      const areAsked = logs.every(
        ({ topics: [topic0] }) => topic0 !== undefined && topics0.has(topic0),
      );
      if (!areAsked) throw new RpcFault("invalid", "a log of another event");
      return logs;
    },
  };
};

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
