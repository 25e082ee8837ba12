import { type Hex, numberToHex } from "viem";
import type { ChainReader, TransactionPointer } from "../../reads/chain-reader.ts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { chunk } from "../../rpc/chunk.ts";
import type { RpcRequest } from "../../rpc/json-rpc.ts";
import { decodeTransferAmount, transferEvent } from "./decode-event.ts";
import { type EvmHeader, type IndexedLog, parseIndexedLogs } from "./rpc-results.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import { fetchBlockLogs } from "./fetch-block-logs.ts";
import { type BloomTest, createBloomTest, parseBloom } from "./bloom.ts";
import { orderLogs } from "./order-logs.ts";
import type { KnownPayees, Payees } from "./payees.ts";
import { type DepositLogRequest, payeesPerRequest, planDepositLogs } from "./plan-deposit-logs.ts";
import { headerRequest } from "./read-headers.ts";

/** A contract and the event for which its logs are requested. */
export type LogFilter = { address: Hex; topic0: Hex };

/** The logs to read, and whether missing logs can be detected. */
export type WatchedLogs = {
  proxies: readonly LogFilter[];
  /** The contracts whose logs are kept in receipts: the proxies and the tokens. */
  contracts: ReadonlySet<Hex>;
  /** False if the headers do not have a usable bloom. On Tron it is always zero. */
  hasLogsBloom: boolean;
  deposits?: WatchedDeposits;
};

/** The transfers to owners to read. */
export type WatchedDeposits = {
  /** The tokens, each with the smallest transfer to read, in base units. */
  tokens: readonly { address: Hex; minimum: bigint }[];
  payees: Payees;
};

type ReadPointers = ChainReader<EvmHeader>["readPointers"];
type LogRange = Parameters<ReadPointers>[0];
type LogSpan = { logs: IndexedLog[]; endHeader: EvmHeader };

/**
 * Creates the read of the transactions with logs of the fee proxies or with transfers to owners. If
 * headers are given, the logs are checked against their blooms, and blocks whose logs may be
 * missing are requested again. A request is skipped only if headers from the same provider show
 * that it is unnecessary.
 */
export const createReadPointers = (
  { failover, countDisagreement }: ReaderContext,
  watchedLogs: WatchedLogs,
): ReadPointers => {
  const { deposits, hasLogsBloom } = watchedLogs;
  const proxyFilters = watchedLogs.proxies.map(({ address, topic0 }) => ({
    address: toLowerHex(address),
    topic0: toLowerHex(topic0),
  }));
  const proxies = proxyFilters.map((proxy) => ({
    ...proxy,
    mayContain: createBloomTest([proxy.address, proxy.topic0]),
  }));
  const tokens = (deposits?.tokens ?? []).map(({ address, minimum }) => ({
    address: toLowerHex(address),
    topic0: transferEvent.topic0,
    minimum,
    mayContain: createBloomTest([address, transferEvent.topic0]),
  }));
  const density = { transfersPerBlock: initialTransfersPerBlock };
  const topicLimitedProviders = new Set<string>();
  const readPayees = deposits?.payees.read ?? readNoPayees;
  return async (range) => {
    const scope = {
      failover,
      countDisagreement,
      hasLogsBloom,
      proxies,
      tokens,
      density,
      topicLimitedProviders,
      payees: await readPayees(),
    };
    return failover.run("logs", async (provider) => {
      const span = await fetchSpan(scope, provider, range);
      const headers = (range.headers ?? []).filter(({ number }) => number >= range.fromBlock);
      const logs = await addMissingLogs(scope, provider, { ...span, headers });
      return {
        pointers: logs.map(toPointer),
        endHeader: span.endHeader,
        providerId: provider.id,
      };
    });
  };
};

/** The density to assume until it is measured. A busy chain has about this many transfers. */
const initialTransfersPerBlock = 200;
const readNoPayees = async (): Promise<KnownPayees> => ({
  topics: [],
  isPayee: () => false,
  filterByBlooms: async () => [],
});

type WatchedLog = LogFilter & { mayContain: BloomTest };
type WatchedToken = WatchedLog & { minimum: bigint };
type Scope = Pick<ReaderContext, "failover" | "countDisagreement"> & {
  hasLogsBloom: boolean;
  proxies: readonly WatchedLog[];
  tokens: readonly WatchedToken[];
  payees: KnownPayees;
  /** The number of token transfers per block, measured when all transfers were last read. */
  density: { transfersPerBlock: number };
  /** The providers that accept at most 1,000 values per topic. */
  topicLimitedProviders: Set<string>;
};

const halvingsMax = 32;

/**
 * Requests as many blocks as the provider accepts, and fewer after a rejection. If even a single
 * block is too large, reads its receipts instead.
 */
const fetchSpan = async (scope: Scope, provider: Provider, range: LogRange): Promise<LogSpan> => {
  for (let halvings = 0; halvings <= halvingsMax; halvings += 1) {
    const requestedBlockCount = range.toBlock - range.fromBlock + 1;
    const blockCount = Math.min(requestedBlockCount, provider.range.blocksMax());
    try {
      const toBlock = range.fromBlock + blockCount - 1;
      const span = await fetchLogSpan(scope, provider, { ...range, toBlock });
      provider.range.grow(blockCount);
      return span;
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      const hasManyPayees = scope.payees.topics.length > payeesPerRequest.afterRejection;
      if (
        error.kind === "range" &&
        hasManyPayees &&
        !scope.topicLimitedProviders.has(provider.id)
      ) {
        scope.topicLimitedProviders.add(provider.id);
        continue;
      }
      if (error.kind === "range" || error.kind === "timeout") provider.range.shrink(blockCount);
      if (error.kind !== "range") throw error;
      if (blockCount <= 1) return fetchBlockSpan(scope, provider, range);
    }
  }
  throw new RpcFault("range", "the node rejects even the smallest range");
};

/** Reads the logs of a single block from its receipts. */
const fetchBlockSpan = async (
  scope: Scope,
  provider: Provider,
  { fromBlock, headers }: LogRange,
): Promise<LogSpan> => {
  const filters = [...scope.proxies, ...(scope.payees.topics.length === 0 ? [] : scope.tokens)];
  const [endHeader] = await provider.request([headerRequest(fromBlock)]);
  if (endHeader === null) throw new RpcFault("behind", "the node has not reached this block");
  const blockLogs = await fetchBlockLogs(provider, endHeader, listAddresses(filters));
  const knownHeader = headers?.find(({ number }) => number === fromBlock);
  const orderedLogs = orderLogs(blockLogs, {
    filters,
    fromBlock,
    toBlock: fromBlock,
    blocks: knownHeader?.hash === endHeader.hash ? (headers ?? []) : [endHeader],
  });
  if (orderedLogs.repeatedCount > 0) scope.countDisagreement("duplicate_logs");
  return { logs: filterDeposits(scope, orderedLogs.logs), endHeader };
};

const listAddresses = (filters: readonly LogFilter[]): ReadonlySet<Hex> =>
  new Set(filters.map(({ address }) => address));

/**
 * Requests the last block of the range together with the logs, so the same node behind the
 * provider's URL returns both. Then requests that block again. If it is the same, the chain did not
 * change in between.
 */
const fetchLogSpan = async (
  scope: Scope,
  provider: Provider,
  range: LogRange,
): Promise<LogSpan> => {
  const { proxies, tokens } = scope;
  const { fromBlock, toBlock, headers } = range;
  const blockRange = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const endRequest = headerRequest(toBlock);
  const [firstRequests = [], ...laterRequests] = await planDepositRequests(scope, provider, range);
  const [logs, endBefore, ...ownerLogs] = await provider.request([
    createLogsRequest(proxies, blockRange),
    endRequest,
    ...firstRequests.map(({ to }) => createLogsRequest(tokens, blockRange, to)),
  ]);
  if (endBefore === null) throw new RpcFault("behind", "the node has not reached this block");
  for (const requestBatch of laterRequests) {
    const [currentEnd, ...batchLogs] = await provider.request([
      endRequest,
      ...requestBatch.map(({ to }) => createLogsRequest(tokens, blockRange, to)),
    ]);
    if (currentEnd?.hash !== endBefore.hash) throw new RpcFault("behind", movedMessage);
    ownerLogs.push(...batchLogs);
  }
  const [endHeader] = await provider.request([endRequest]);
  if (endHeader?.hash !== endBefore.hash) throw new RpcFault("behind", movedMessage);
  const isKnownEnd = headers?.find((header) => header.number === toBlock)?.hash === endHeader.hash;
  if (firstRequests[0] !== undefined && firstRequests[0].to === undefined) {
    scope.density.transfersPerBlock = ownerLogs.flat().length / (toBlock - fromBlock + 1);
  }
  const orderedLogs = orderLogs([...logs, ...ownerLogs.flat()], {
    filters: ownerLogs.length === 0 ? proxies : [...proxies, ...tokens],
    fromBlock,
    toBlock,
    blocks: isKnownEnd ? (headers ?? []) : [endHeader],
  });
  if (orderedLogs.repeatedCount > 0) scope.countDisagreement("duplicate_logs");
  return { logs: filterDeposits(scope, orderedLogs.logs), endHeader };
};

const movedMessage = "the chain changed during the read";
const depositRequestsPerBatch = 4;

/**
 * Plans the requests for transfers to owners, grouped by batch. If the provider's own blooms cover
 * every block, owners that none of them can contain are left out. A false positive adds an owner to
 * a request but does not add a request. The blooms of another provider are not used. Otherwise,
 * that provider alone could hide a transfer from the scan, and also from an audit if it answers
 * that too.
 */
const planDepositRequests = async (
  { density, hasLogsBloom, topicLimitedProviders, payees, tokens }: Scope,
  provider: Provider,
  { fromBlock, toBlock, headers }: LogRange,
): Promise<readonly (readonly DepositLogRequest[])[]> => {
  if (payees.topics.length === 0 || tokens.length === 0) return [];
  const blockCount = toBlock - fromBlock + 1;
  const headersInRange =
    headers?.filter(({ number }) => number >= fromBlock && number <= toBlock) ?? [];
  const areFromProvider = headersInRange.every(({ providerId }) => providerId === provider.id);
  const hasOwnBlooms = hasLogsBloom && areFromProvider && headersInRange.length === blockCount;
  const blooms = hasOwnBlooms
    ? headersInRange
        .map(({ logsBloom }) => parseBloom(logsBloom))
        .filter((bloom) => tokens.some(({ mayContain }) => mayContain(bloom)))
    : [];
  const requests = planDepositLogs({
    blockCount,
    payees: hasOwnBlooms ? await payees.filterByBlooms(blooms) : payees.topics,
    payeesMax: topicLimitedProviders.has(provider.id)
      ? payeesPerRequest.afterRejection
      : payeesPerRequest.initial,
    ...density,
  });
  return chunk(requests, depositRequestsPerBatch);
};

/**
 * Removes token transfers that do not go to an owner or are below the minimum. This way, no
 * receipts are requested for spam.
 */
const filterDeposits = ({ payees, tokens }: Scope, logs: readonly IndexedLog[]): IndexedLog[] => {
  const minimums = new Map(tokens.map(({ address, minimum }) => [address, minimum]));
  return logs.filter((log) => {
    const minimum = minimums.get(log.address);
    if (minimum === undefined) return true;
    const [, from, to] = log.topics;
    if (to === undefined || from === to || !payees.isPayee(to)) return false;
    const amount = decodeTransferAmount(log) ?? 0n;
    return amount > 0n && amount >= minimum;
  });
};

type CheckedSpan = LogSpan & { headers: readonly EvmHeader[] };

/**
 * Checks the logs against the blooms. If logs of a block may be missing, requests that block's logs
 * by its hash. A node that does not know the block then returns an error instead of an empty
 * result. Asks the same provider first, and then another one.
 */
const addMissingLogs = async (
  scope: Scope,
  provider: Provider,
  span: CheckedSpan,
): Promise<IndexedLog[]> => {
  const { countDisagreement, hasLogsBloom, failover } = scope;
  const knownEnd = span.headers.find((header) => header.number === span.endHeader.number);
  // If the end has a different hash, the logs are from another fork than the headers. The caller
  // detects that itself.
  if (!hasLogsBloom || (knownEnd !== undefined && knownEnd.hash !== span.endHeader.hash))
    return span.logs;
  const coveredHeaders = span.headers.filter((header) => header.number <= span.endHeader.number);

  let logs = span.logs;
  const addLogs = (receivedLogs: readonly IndexedLog[] | undefined) => {
    // The known logs of a block can be from one proxy while those of another proxy are missing.
    const knownPositions = new Set(
      logs.map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`),
    );
    const missingLogs = (receivedLogs ?? []).filter(
      ({ blockNumber, logIndex }) => !knownPositions.has(`${blockNumber}:${logIndex}`),
    );
    if (missingLogs.length === 0) return;
    countDisagreement("missing_logs");
    logs = [...logs, ...missingLogs].sort(compareByPosition);
  };
  let suspects = listSuspects(scope, coveredHeaders, logs);
  if (suspects.length === 0) return logs;
  addLogs(await fetchBlocks(scope, provider, suspects));
  suspects = listSuspects(scope, suspects, logs);
  if (suspects.length === 0) return logs;
  addLogs(
    await failover.runOnOther(provider, (otherProvider) =>
      fetchBlocks(scope, otherProvider, suspects),
    ),
  );
  for (const _ of listSuspects(scope, suspects, logs)) {
    countDisagreement("unexplained_bloom");
  }
  return logs;
};

/** Returns the blocks whose bloom indicates an event of a proxy that is not among the logs. */
const listSuspects = (
  { proxies }: Scope,
  headers: readonly EvmHeader[],
  logs: readonly IndexedLog[],
): EvmHeader[] => {
  const seenEvents = new Set(
    logs.map((log) => toEventKey(log.blockNumber, log.address, log.topics[0])),
  );
  return headers.filter(({ number, logsBloom }) => {
    const bloom = parseBloom(logsBloom);
    return proxies.some(
      ({ address, mayContain, topic0 }) =>
        mayContain(bloom) && !seenEvents.has(toEventKey(number, address, topic0)),
    );
  });
};

const toEventKey = (blockNumber: number, address: Hex, topic0: Hex | undefined): string =>
  `${blockNumber} ${address} ${topic0 ?? ""}`;

const fetchBlocks = async (
  { proxies }: Scope,
  provider: Provider,
  headers: readonly EvmHeader[],
): Promise<IndexedLog[]> => {
  const fetchLogs = (requestedHeaders: readonly EvmHeader[]) =>
    provider.request(
      requestedHeaders.map(({ hash }) => createLogsRequest(proxies, { blockHash: hash })),
      { inParts: true },
    );
  const fetchBlockAlone = async (header: EvmHeader): Promise<IndexedLog[]> => {
    const [logs = []] = await fetchLogs([header]).catch(async (error: unknown) => {
      if (!isRangeFault(error)) throw error;
      return [await fetchBlockLogs(provider, header, listAddresses(proxies))];
    });
    return logs;
  };
  const logsByBlock = await fetchLogs(headers).catch(async (error: unknown) => {
    if (!isRangeFault(error)) throw error;
    const blockLogs = [];
    for (const header of headers) blockLogs.push(await fetchBlockAlone(header));
    return blockLogs;
  });
  return headers.flatMap((header, index) => {
    const { number } = header;
    const expected = { filters: proxies, fromBlock: number, toBlock: number, blocks: [header] };
    return orderLogs(logsByBlock[index] ?? [], expected).logs;
  });
};

const isRangeFault = (error: unknown): boolean =>
  error instanceof RpcFault && error.kind === "range";

const createLogsRequest = (
  filters: readonly LogFilter[],
  blockSelector: { blockHash: Hex } | { fromBlock: Hex; toBlock: Hex },
  to?: readonly Hex[],
): RpcRequest<(IndexedLog & { removed?: boolean | undefined })[]> => {
  const eventTopics = new Set(filters.map(({ topic0 }) => topic0));
  return {
    method: "eth_getLogs",
    params: [
      {
        ...blockSelector,
        address: filters.map(({ address }) => address),
        topics: [[...eventTopics], ...(to === undefined ? [] : [null, to])],
      },
    ],
    // A log with a different topic may be a corrupted log of a requested event. Skipping it could
    // miss a payment.
    parseResult: (result) => {
      const logs = parseIndexedLogs(result);
      const areRequested = logs.every(
        ({ topics: [topic0] }) => topic0 !== undefined && eventTopics.has(topic0),
      );
      if (!areRequested) throw new RpcFault("invalid", "a log of another event");
      return logs;
    },
  };
};

const compareByPosition = (a: IndexedLog, b: IndexedLog): number =>
  a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;

const toPointer = ({
  blockNumber,
  blockHash,
  timestampSeconds,
  transactionHash,
}: IndexedLog): TransactionPointer => ({
  blockNumber,
  blockHash,
  transactionHash,
  ...(timestampSeconds === undefined ? {} : { timestampSeconds }),
});

const toLowerHex = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`;
