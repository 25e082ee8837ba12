import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import { createCatalogue, devnet } from "@payment-links/contracts";
import { type Clock, createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { createChainReaders } from "../rpc/create-chain-readers.ts";
import type { RpcTiming } from "../rpc/provider.ts";
import { toEvmChain } from "../evm/reads/evm-chain.ts";
import { evmDialect } from "../evm/reads/create-readers.ts";
import { createEvmReader } from "../evm/reads/evm-reader.ts";
import type { LogFilter } from "../evm/reads/read-logs.ts";
import { readCalls } from "../evm/reads/read-transactions.ts";
import { createRpcMetrics } from "../rpc/rpc-metrics.ts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { startScriptedRpc } from "./scripted-rpc.ts";

/** A transaction that paid through the proxy, with its block. */
type PaidTransaction = { hash: Hex; blockNumber: number };

/** The first topic of the fee proxy's event. */
export const topic0 = "0x9f16cbcc523c67a60c450e5ffe4f3b7b6dbe772e7abcadb2686ce029a9a0a2b6";
const payee = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";

/**
 * Starts a chain with one block per entry of the list. Each entry is the number of payments in its
 * block.
 */
export const startPaidChain = async (countsPerBlock: readonly number[]) => {
  const chain = await startEvmChain({ slotsInEpoch: 2 });
  const firstBlock = (await chain.readHeadNumber()) + 1;
  const paidTransactions: PaidTransaction[] = [];
  for (const [index, count] of countsPerBlock.entries()) {
    const blockNumber = firstBlock + index;
    for (let index = 0; index < count; index += 1) {
      const reference = randomBytes(16).toString("hex");
      paidTransactions.push({
        hash: await chain.pay({ reference, to: payee, amount: 5n }),
        blockNumber,
      });
    }
    await chain.mine();
  }
  const lastBlock = firstBlock + countsPerBlock.length - 1;
  return { chain, paidTransactions, firstBlock, lastBlock, close: () => chain.close() };
};

type RigOptions = {
  providerCount?: number;
  rangeBlocksMax?: number;
  hasLogsBloom?: boolean;
  /** Contracts and events to read in addition to those of the chain's proxy. */
  moreProxies?: readonly LogFilter[];
  clock?: Clock;
  timing?: Partial<RpcTiming>;
};

/**
 * The cooldowns are short enough for a test, and the provider timeout is long enough for a slow
 * machine.
 */
const shortTiming: RpcTiming = {
  // oxlint-disable-next-line reliability/no-short-limit -- leaves time for a second attempt
  timeoutMs: 4_000,
  cooldownMs: 20,
  cooldownMsMax: 200,
  failoverMsMax: provokedTimeoutMs(8_000),
};

/** Creates readers over scripted providers. All providers forward to the same correct node. */
export const createReaderRig = async (
  chain: LocalEvmChain,
  {
    providerCount = 1,
    rangeBlocksMax = 1_000,
    hasLogsBloom = true,
    moreProxies = [],
    ...options
  }: RigOptions = {},
) => {
  const startingRpcs = Array.from({ length: providerCount }, () =>
    startScriptedRpc({ target: chain.url }),
  );
  const rpcs = await Promise.all(startingRpcs);
  const metrics = createMetrics("test");
  const logLines: string[] = [];
  const log = createLog(
    { service: "test", level: "trace" },
    { write: (line) => logLines.push(line) },
  );
  const readerOptions = {
    chainId: chain.chainId,
    dialect: evmDialect({ chainName: chain.chainId }),
    // Like the URLs of large providers, the path contains an API key. It must not appear in logs,
    // metrics or errors.
    urls: rpcs.map(({ url }) => `${url}v2/${urlKey}`),
    rangeBlocksMax,
    clock: options.clock ?? systemClock,
    log,
    metrics: createRpcMetrics(metrics),
    timing: { ...shortTiming, ...options.timing },
  };
  const proxies: readonly LogFilter[] = [{ address: devnet.erc20FeeProxy, topic0 }, ...moreProxies];
  const contracts = new Set<Hex>([
    ...proxies.map(({ address }) => toLowerHex(address)),
    ...chain.catalogueData.tokens.map(({ address }) => toLowerHex(address)),
  ]);
  const catalogue = createCatalogue(chain.catalogueData);
  const evmChain = toEvmChain(
    catalogue,
    catalogue.chains.find(({ id }) => id === chain.chainId) ?? { id: chain.chainId },
  );
  const readers = createChainReaders(readerOptions, (readerContext) => ({
    ...createEvmReader(readerContext, evmChain, { proxies, contracts, hasLogsBloom }),
    readCalls: (hashes: readonly Hex[]) => readCalls(readerContext.failover, hashes),
  }));
  const [rpc] = rpcs;
  if (rpc === undefined) throw new RangeError("the rig has no provider");
  return {
    reader: readers.reader,
    verifiers: readers.verifiers,
    getProviderReader: readers.getProviderReader,
    ignoreProviders: readers.ignoreProviders,
    closeReaders: () => readers.close(),
    rpc,
    /** The second provider. */
    rpc2: rpcs[1] ?? rpc,
    getLogText: () => logLines.join(""),
    readMetricsText: () => metrics.metrics(),
    countDisagreements: (kind: string) =>
      readMetricValue(metrics, "payment_links_chain_rpc_disagreements_total", { kind }),
    countRequests: (outcome: string, provider = "rpc-1") =>
      readMetricValue(metrics, "payment_links_chain_rpc_requests_total", { outcome, provider }),
    readCircuitState: (provider: string) =>
      readMetricValue(metrics, "payment_links_chain_rpc_circuit_open", { provider }),
    close: async () => {
      readers.close();
      await Promise.all(rpcs.map((rpc) => rpc.close()));
    },
  };
};
export type ReaderRig = Awaited<ReturnType<typeof createReaderRig>>;

export const urlKey = "secret-key-of-ours";

const readMetricValue = async (
  metrics: ReturnType<typeof createMetrics>,
  name: string,
  labels: Record<string, string>,
): Promise<number> => {
  const family = (await metrics.getMetricsAsJSON()).find((metric) => metric.name === name);
  const expectedLabels = Object.entries(labels);
  const sample = family?.values.find((value) =>
    expectedLabels.every(
      ([label, expectedValue]) =>
        new Map(Object.entries(value.labels)).get(label) === expectedValue,
    ),
  );
  return sample?.value ?? 0;
};

const toLowerHex = (address: string): Hex => address.toLowerCase() as Hex;
