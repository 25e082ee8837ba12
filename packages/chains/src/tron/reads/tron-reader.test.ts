import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue, loadCatalogue } from "@payment-links/contracts";
import {
  type Clock,
  createFakeClock,
  createLog,
  createMetrics,
  systemClock,
} from "@payment-links/runtime";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import type { RpcTiming } from "../../rpc/provider.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import {
  type Corruption,
  hostileResponse,
  plausibleResponse,
} from "../../testing/hostile-responses.ts";
import { type ScriptedRpc, startScriptedRpc } from "../../testing/scripted-rpc.ts";
import { startTronChain } from "@payment-links/local-chains/tron/start-tron-chain";
import { ChainUnreachableError } from "../../reads/chain-reader.ts";
import { listContracts, listProxyEvents } from "../../evm/reads/evm-chain.ts";
import type { EvmReader } from "../../evm/reads/evm-reader.ts";
import { findChainFault } from "../../evm/reads/find-chain-fault.ts";
import { toTronChain } from "./tron-chain.ts";
import { classifyTronError, tronDialect } from "./tron-dialect.ts";
import { createTronReader } from "./tron-reader.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const owner = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const blockRangeMax = 8;
const blockCount = 30;
const daySeconds = 24 * 60 * 60;

const setup = useRig(async () => {
  const localChain = await startTronChain({ finalizedLag: 2, blockRangeMax });
  const firstBlock = (await localChain.readHeadNumber()) + 1;
  const paidHashes: `0x${string}`[] = [];
  for (let block = 0; block < blockCount; block += 1) {
    const reference = block.toString(16).padStart(32, "0");
    if (block % 3 === 0)
      paidHashes.push(await localChain.pay({ reference, to: owner, amount: 5n }));
    await localChain.mine();
  }
  const catalogue = createCatalogue(localChain.catalogueData);
  const [catalogueChain] = catalogue.chains;
  if (catalogueChain === undefined) throw new Error("the catalogue does not have the chain");
  const lastBlock = firstBlock + blockCount - 1;
  const chain = toTronChain(catalogue, catalogueChain);
  return { localChain, chain, firstBlock, lastBlock, paidHashes, close: () => localChain.close() };
});

const closeAfterTest = closeAfterEach();

/** Creates readers of the chain over several providers. */
const createReaders = (
  urls: readonly string[],
  clock: Clock = systemClock,
  timing: Partial<RpcTiming> = {},
) => {
  const { chain } = setup;
  const metrics = createMetrics("test");
  const options = {
    chainId: chain.id,
    urls,
    dialect: tronDialect(chain),
    rangeBlocksMax: 5_000,
    clock,
    log: createLog({ service: "test", level: "fatal" }),
    metrics: createRpcMetrics(metrics),
    timing: { cooldownMs: 20, cooldownMsMax: 200, ...timing },
  };
  const readers = createChainReaders(options, (readerContext) =>
    createTronReader(readerContext, chain, {
      proxies: listProxyEvents(chain),
      contracts: listContracts(chain),
    }),
  );
  return { ...closeAfterTest(readers), metrics };
};

/**
 * Returns the transaction hashes of all pointers. Sends one request after another until the range
 * is covered.
 */
const readPaidHashes = async (reader: EvmReader): Promise<string[]> => {
  const hashes: string[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const { endHeader, pointers } = await reader.readPointers({
      fromBlock,
      toBlock: setup.lastBlock,
    });
    hashes.push(...pointers.map(({ transactionHash }) => transactionHash));
    fromBlock = endHeader.number + 1;
  }
  return hashes;
};

describe("java-tron's dialect", () => {
  test.each([
    ["eth_getLogs", -32602, "exceed max block range: 5000", "range"],
    ["eth_getLogs", -32005, "query returned more than 10000 results", "range"],
    ["eth_getLogs", -32602, "invalid blockHash", "behind"],
    ["eth_getBlockByNumber", -32602, "TAG safe not supported", "refused"],
    ["eth_getTransactionCount", -32601, "the method does not exist/is not available", "refused"],
    ["eth_call", -32600, "Smart contract is not exist.", "reverted"],
    ["eth_call", -32000, "REVERT opcode executed", "reverted"],
    ["eth_getCode", -32000, "lack of computing resources, rate limit", "rate_limited"],
  ])("classifies %s, %i %s as %s", (method, code, message, kind) => {
    expect(classifyTronError(method, { code, message, status: 200 })).toBe(kind);
  });

  test("converts each Tron network of the catalogue to the chain id that its nodes report", () => {
    const catalogue = loadCatalogue();
    const names = catalogue.chains
      .filter(({ chainType }) => chainType === "TVM")
      .map((chain) => [chain.id, toTronChain(catalogue, chain).chainName]);
    expect(names).toEqual([
      ["tron", String(0x2b6653dc)],
      ["tron-nile", String(0xcd8690dc)],
    ]);
  });

  test("reads a range in parts if a node rejects it, and misses nothing", async () => {
    const { reader } = createReaders([setup.localChain.url]);
    expect(await readPaidHashes(reader)).toEqual(setup.paidHashes);
  });

  test("pauses for an overloaded node, then asks it again", async () => {
    const node = await setup.localChain.startNode();
    const { metrics, reader } = createReaders([node.url]);
    await reader.readHeads();
    node.limitRate(1);
    expect(await readPaidHashes(reader)).toEqual(setup.paidHashes);
    node.limitRate(1);
    const headers = { fromBlock: setup.firstBlock, toBlock: setup.lastBlock };
    expect(await reader.readHeaders(headers)).toHaveLength(blockCount);
    const metricsText = await metrics.metrics();
    expect(metricsText).toMatch(/rpc_requests_total\{[^}]*outcome="rate_limited"[^}]*\} 2\n/);
    expect(metricsText).not.toMatch(/outcome="invalid"/);
  });

  test("detects a provider that serves another Tron network", async () => {
    const otherProvider = closeAfterTest(await startScriptedRpc({ target: setup.localChain.url }));
    otherProvider.injectFault({ kind: "wrong_chain", chainId: 0xcd8690dc });
    const { getProviderReader, verifiers } = createReaders([
      setup.localChain.url,
      otherProvider.url,
    ]);
    const servedChains = verifiers.map(({ id }) => getProviderReader(id).readChain());
    expect((await Promise.all(servedChains))[1]).toBe(String(0xcd8690dc));
  });

  test("reads heads without `safe`, and expiry times as nonces, which chain time uses up", async () => {
    const { reader } = createReaders([setup.localChain.url]);
    const head = setup.lastBlock;
    expect(await reader.readHeads()).toEqual({ latest: head, safe: null, finalized: head - 2 });
    const [hash] = setup.paidHashes;
    if (hash === undefined) throw new Error("there is no payment");
    const [block, ...moreHeaders] = await reader.readHeaders({
      fromBlock: setup.firstBlock,
      toBlock: setup.firstBlock,
    });
    expect(moreHeaders).toEqual([]);
    const senders = await reader.readSenders([hash, `0x${"12".repeat(32)}`]);
    const { from } = await setup.localChain.client.getTransactionReceipt({ hash });
    expect([...senders]).toEqual([
      [hash, { address: from, nonce: (block?.timestampSeconds ?? 0) + daySeconds }],
    ]);
    expect(await reader.readUsedNonces(from, setup.firstBlock)).toBe(block?.timestampSeconds);
    expect(await reader.readUsedNonces(from, head + 1_000)).toBe(0);
  });
});

const runs = getPropertyRunOptions({ commit: 300, soak: 2_000 });

test("the Tron reader returns a result or an expected error for every hostile response", async () => {
  process.stderr.write(`hostile responses of a Tron node: SEED=${runs.seed}\n`);
  const clock = createFakeClock(new Date());
  const rpc: ScriptedRpc = closeAfterTest(await startScriptedRpc({ target: setup.localChain.url }));
  const timing = { timeoutMs: 60_000, failoverMsMax: 60_000, cooldownMs: 1, cooldownMsMax: 1 };
  const { reader, verifiers } = createReaders([rpc.url, setup.localChain.url], clock, timing);
  const { chain, lastBlock: toBlock, paidHashes } = setup;
  const range = { fromBlock: toBlock - blockRangeMax, toBlock };
  const reads: Record<string, (hostileReader: EvmReader) => Promise<unknown>> = {
    heads: (hostileReader) => hostileReader.readHeads(),
    headers: (hostileReader) => hostileReader.readHeaders(range),
    senders: (hostileReader) => hostileReader.readSenders(paidHashes),
    usedNonces: (hostileReader) => hostileReader.readUsedNonces(owner, toBlock),
    chainFault: (hostileReader) => findChainFault(chain, hostileReader),
    transfers: async (hostileReader) => {
      const { pointers } = await hostileReader.readPointers(range);
      for (const { timestampSeconds = 0 } of pointers)
        new Date(timestampSeconds * 1000).toISOString();
      await hostileReader.readReceipts(pointers.map(({ transactionHash }) => transactionHash));
    },
  };
  const runHostileRead = async (readName: string, { corrupt }: Corruption): Promise<void> => {
    const [hostileProvider] = verifiers;
    if (hostileProvider === undefined) throw new Error("there is no provider");
    clock.advance(10);
    const activeFault = rpc.injectFault(
      { kind: "hostile", corrupt },
      { excludedMethods: ["eth_chainId"] },
    );
    try {
      await reads[readName]?.(hostileProvider.reader);
    } catch (error) {
      if (error instanceof ChainUnreachableError) return;
      throw error;
    } finally {
      activeFault.stop();
    }
  };
  const responseArbitrary = fc.oneof(
    { weight: 9, arbitrary: hostileResponse },
    { weight: 1, arbitrary: plausibleResponse },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(reads)), responseArbitrary, runHostileRead),
    runs,
  );
  clock.advance(1_000);
  expect(await readPaidHashes(reader)).toEqual(paidHashes);
}, 600_000);
