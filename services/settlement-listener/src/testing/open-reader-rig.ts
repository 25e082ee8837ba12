import { randomBytes } from "node:crypto";
import type { Hex } from "viem";
import { devnet } from "@payment-links/contracts";
import { type Clock, openLog, openMetrics, systemClock } from "@payment-links/runtime";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { openChainReaders } from "../rpc/open-chain-readers.ts";
import type { RpcTiming } from "../rpc/provider.ts";
import { createEvmReads } from "../families/evm/create-evm-reads.ts";
import { evmDialect } from "../families/evm/evm-family.ts";
import type { LogFilter } from "../families/evm/reads/read-logs.ts";
import { createRpcMetrics } from "../rpc/rpc-metrics.ts";
import { type Chain, openChain } from "./open-chain.ts";
import { openScriptedRpc } from "./scripted-rpc.ts";

/** A transaction that paid through the proxy, and where it was mined. */
type Paid = { hash: Hex; blockNumber: number };

/** Of the fee proxy's event. */
export const topic0 = "0x9f16cbcc523c67a60c450e5ffe4f3b7b6dbe772e7abcadb2686ce029a9a0a2b6";
const payee = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";

/**
 * A chain with one block for each count, which holds that many payments; 0 is a block without any.
 */
export const openPaidChain = async (countsPerBlock: readonly number[]) => {
  const chain = await openChain({ slotsInEpoch: 2 });
  const firstBlock = (await chain.headNumber()) + 1;
  const paid: Paid[] = [];
  for (const [index, count] of countsPerBlock.entries()) {
    const blockNumber = firstBlock + index;
    for (let made = 0; made < count; made += 1) {
      const reference = randomBytes(16).toString("hex");
      paid.push({ hash: await chain.pay({ reference, to: payee, amount: 5n }), blockNumber });
    }
    await chain.mine();
  }
  const lastBlock = firstBlock + countsPerBlock.length - 1;
  return { chain, paid, firstBlock, lastBlock, close: () => chain.close() };
};

type RigOptions = {
  providerCount?: number;
  rangeBlocksMax?: number;
  isBloomKept?: boolean;
  /** Watched beside the proxy of the chain. */
  moreProxies?: readonly LogFilter[];
  clock?: Clock;
  timing?: Partial<RpcTiming>;
};

/**
 * Rests that are so short that a test can see them through, and a provider's time-out that is
 * longer than a slow machine needs.
 */
const quick: RpcTiming = {
  // oxlint-disable-next-line reliability/no-short-limit -- a second try must fit into the asking
  timeoutMs: 4_000,
  restMs: 20,
  restMsMax: 200,
  askingMsMax: provokedTimeoutMs(8_000),
};

/** Readers over scripted providers, all with the same good node behind them. */
export const openReaderRig = async (
  chain: Chain,
  {
    providerCount = 1,
    rangeBlocksMax = 1_000,
    isBloomKept = true,
    moreProxies = [],
    ...given
  }: RigOptions = {},
) => {
  const opening = Array.from({ length: providerCount }, () =>
    openScriptedRpc({ target: chain.url }),
  );
  const rpcs = await Promise.all(opening);
  const metrics = openMetrics("test");
  const lines: string[] = [];
  const log = openLog({ service: "test", level: "trace" }, { write: (line) => lines.push(line) });
  const options = {
    chainId: chain.chainId,
    dialect: evmDialect({ chainName: chain.chainId }),
    // A key in the path, as with the big providers: it must not come out anywhere.
    urls: rpcs.map(({ url }) => `${url}v2/${urlKey}`),
    rangeBlocksMax,
    clock: given.clock ?? systemClock,
    log,
    metrics: createRpcMetrics(metrics),
    timing: { ...quick, ...given.timing },
  };
  const proxies: readonly LogFilter[] = [{ address: devnet.erc20FeeProxy, topic0 }, ...moreProxies];
  const contracts = new Set<Hex>([
    ...proxies.map(({ address }) => lower(address)),
    ...chain.catalogueData.tokens.map(({ address }) => lower(address)),
  ]);
  const readers = openChainReaders(options, (asking) =>
    createEvmReads(asking, { proxies, contracts, isBloomKept }),
  );
  const [rpc] = rpcs;
  if (rpc === undefined) throw new RangeError("a rig has a provider");
  return {
    reader: readers.reader,
    witnesses: readers.witnesses,
    readerOf: readers.readerOf,
    ignore: readers.ignore,
    closeReaders: () => readers.close(),
    rpc,
    /** The second provider. */
    rpc2: rpcs[1] ?? rpc,
    logText: () => lines.join(""),
    metricsText: () => metrics.metrics(),
    disagreements: (kind: string) =>
      valueOf(metrics, "payment_links_chain_rpc_disagreements_total", { kind }),
    requests: (outcome: string, provider = "rpc-1") =>
      valueOf(metrics, "payment_links_chain_rpc_requests_total", { outcome, provider }),
    circuit: (provider: string) =>
      valueOf(metrics, "payment_links_chain_rpc_circuit_open", { provider }),
    close: async () => {
      readers.close();
      await Promise.all(rpcs.map((opened) => opened.close()));
    },
  };
};
export type ReaderRig = Awaited<ReturnType<typeof openReaderRig>>;

export const urlKey = "secret-key-of-ours";

const valueOf = async (
  metrics: ReturnType<typeof openMetrics>,
  name: string,
  labels: Record<string, string>,
): Promise<number> => {
  const family = (await metrics.getMetricsAsJSON()).find((metric) => metric.name === name);
  const wanted = Object.entries(labels);
  const found = family?.values.find((value) =>
    wanted.every(([label, text]) => new Map(Object.entries(value.labels)).get(label) === text),
  );
  return found?.value ?? 0;
};

const lower = (address: string): Hex => address.toLowerCase() as Hex;
