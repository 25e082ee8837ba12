import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createCatalogue, openCatalogue } from "@payment-links/contracts";
import {
  type Clock,
  createHeldClock,
  openLog,
  openMetrics,
  systemClock,
} from "@payment-links/runtime";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { openChainReaders } from "../../rpc/open-chain-readers.ts";
import type { RpcTiming } from "../../rpc/provider.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";
import { type Spoiling, hostileAnswer, plausibleAnswer } from "../../testing/hostile-answers.ts";
import { owner } from "../../testing/samples.ts";
import { type ScriptedRpc, openScriptedRpc } from "../../testing/scripted-rpc.ts";
import { openTronChain } from "../../testing/tron/open-tron-chain.ts";
import { ChainMovedError } from "../../watch/chain/watch-context.ts";
import { ChainUnreachableError } from "../../watch/chain-reader.ts";
import { findTransfers, readTimes } from "../../watch/transfers/find-transfers.ts";
import { contractsOf, proxyEventsOf } from "../evm/evm-chain.ts";
import { type EvmReader, createEvmReader } from "../evm/evm-reader.ts";
import { findChainFault } from "../evm/find-chain-fault.ts";
import { createTronReads } from "./create-tron-reads.ts";
import { tronChainOf } from "./tron-chain.ts";
import { classifyTronError, tronDialect } from "./tron-dialect.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const blockRangeMax = 8;
const blockCount = 30;
const daySeconds = 24 * 60 * 60;

const setup = useRig(async () => {
  const local = await openTronChain({ finalizedLag: 2, blockRangeMax });
  const firstBlock = (await local.headNumber()) + 1;
  const paid: `0x${string}`[] = [];
  for (let block = 0; block < blockCount; block += 1) {
    const reference = block.toString(16).padStart(32, "0");
    if (block % 3 === 0) paid.push(await local.pay({ reference, to: owner, amount: 5n }));
    await local.mine();
  }
  const catalogue = createCatalogue(local.catalogueData);
  const [inCatalogue] = catalogue.chains;
  if (inCatalogue === undefined) throw new Error("the catalogue has the chain");
  const lastBlock = firstBlock + blockCount - 1;
  const chain = tronChainOf(catalogue, inCatalogue);
  return { local, chain, firstBlock, lastBlock, paid, close: () => local.close() };
});

const keep = closeAfterEach();

/** Readers of the chain over some providers. */
const openReaders = (
  urls: readonly string[],
  clock: Clock = systemClock,
  timing: Partial<RpcTiming> = {},
) => {
  const { chain } = setup;
  const metrics = openMetrics("test");
  const options = {
    chainId: chain.id,
    urls,
    dialect: tronDialect(chain),
    rangeBlocksMax: 5_000,
    clock,
    log: openLog({ service: "test", level: "fatal" }),
    metrics: createRpcMetrics(metrics),
    timing: { restMs: 20, restMsMax: 200, ...timing },
  };
  const readers = openChainReaders(options, (asking) =>
    createEvmReader(
      createTronReads(asking, { proxies: proxyEventsOf(chain), contracts: contractsOf(chain) }),
      chain,
    ),
  );
  return { ...keep(readers), metrics };
};

/** All pointers, question by question. */
const readPaid = async (reader: EvmReader): Promise<string[]> => {
  const hashes: string[] = [];
  for (let fromBlock = setup.firstBlock; fromBlock <= setup.lastBlock;) {
    const { end, pointers } = await reader.readPointers({ fromBlock, toBlock: setup.lastBlock });
    hashes.push(...pointers.map(({ transactionHash }) => transactionHash));
    fromBlock = end.number + 1;
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
  ])("of %s, %i %s is %s", (method, code, message, kind) => {
    expect(classifyTronError(method, { code, message, status: 200 })).toBe(kind);
  });

  test("names each Tron of the catalogue as its nodes do", () => {
    const catalogue = openCatalogue();
    const names = catalogue.chains
      .filter(({ chainType }) => chainType === "TVM")
      .map((chain) => [chain.id, tronChainOf(catalogue, chain).chainName]);
    expect(names).toEqual([
      ["tron", String(0x2b6653dc)],
      ["tron-nile", String(0xcd8690dc)],
    ]);
  });

  test("a range that a node refuses is asked for in parts, and nothing is missed", async () => {
    const { reader } = openReaders([setup.local.url]);
    expect(await readPaid(reader)).toEqual(setup.paid);
  });

  test("a node that is asked too much is given a rest, and asked again", async () => {
    const node = await setup.local.openNode();
    const { metrics, reader } = openReaders([node.url]);
    await reader.readHeads();
    node.limitRate(1);
    expect(await readPaid(reader)).toEqual(setup.paid);
    node.limitRate(1);
    const headers = { fromBlock: setup.firstBlock, toBlock: setup.lastBlock };
    expect(await reader.readHeaders(headers)).toHaveLength(blockCount);
    const asked = await metrics.metrics();
    expect(asked).toMatch(/rpc_requests_total\{[^}]*outcome="rate_limited"[^}]*\} 2\n/);
    expect(asked).not.toMatch(/outcome="invalid"/);
  });

  test("of two providers, one that serves another Tron is found", async () => {
    const other = keep(await openScriptedRpc({ target: setup.local.url }));
    other.play({ kind: "wrong_chain", chainId: 0xcd8690dc });
    const { readerOf, witnesses } = openReaders([setup.local.url, other.url]);
    const served = witnesses.map(({ id }) => readerOf(id).readChain());
    expect((await Promise.all(served))[1]).toBe(String(0xcd8690dc));
  });

  test("heads have no `safe`; a transaction's nonce is the second at which it has expired, used up by chain time", async () => {
    const { reader } = openReaders([setup.local.url]);
    const head = setup.lastBlock;
    expect(await reader.readHeads()).toEqual({ latest: head, safe: null, finalized: head - 2 });
    const [hash] = setup.paid;
    if (hash === undefined) throw new Error("there is a payment");
    const [block, ...more] = await reader.readHeaders({
      fromBlock: setup.firstBlock,
      toBlock: setup.firstBlock,
    });
    expect(more).toEqual([]);
    const senders = await reader.readSenders([hash, `0x${"12".repeat(32)}`]);
    const { from } = await setup.local.client.getTransactionReceipt({ hash });
    expect([...senders]).toEqual([
      [hash, { address: from, nonce: (block?.timestampSeconds ?? 0) + daySeconds }],
    ]);
    expect(await reader.readUsedNonces(from, setup.firstBlock)).toBe(block?.timestampSeconds);
    expect(await reader.readUsedNonces(from, head + 1_000)).toBe(0);
  });
});

const runs = propertyRuns({ commit: 300, soak: 2_000 });

test("hostile answers: the reader answers, or says that nobody does, and nothing else", async () => {
  process.stderr.write(`hostile answers of a Tron: SEED=${runs.seed}\n`);
  const clock = createHeldClock(new Date());
  const rpc: ScriptedRpc = keep(await openScriptedRpc({ target: setup.local.url }));
  const timing = { timeoutMs: 60_000, askingMsMax: 60_000, restMs: 1, restMsMax: 1 };
  const { reader, witnesses } = openReaders([rpc.url, setup.local.url], clock, timing);
  const { chain, lastBlock: toBlock, paid } = setup;
  const range = { fromBlock: toBlock - blockRangeMax, toBlock };
  const questions: Record<string, (hostile: EvmReader) => Promise<unknown>> = {
    heads: (hostile) => hostile.readHeads(),
    headers: (hostile) => hostile.readHeaders(range),
    senders: (hostile) => hostile.readSenders(paid),
    usedNonces: (hostile) => hostile.readUsedNonces(owner, toBlock),
    chainFault: (hostile) => findChainFault(chain, hostile),
    transfers: async (hostile) => {
      const { pointers } = await hostile.readPointers(range);
      const times = await readTimes(hostile, pointers);
      const lines = { settle: toBlock, final: toBlock };
      const found = await findTransfers({ chain, reader: hostile }, { pointers, times, lines });
      for (const { occurredAt } of found) occurredAt.toISOString();
    },
  };
  const ask = async (what: string, { spoil }: Spoiling): Promise<void> => {
    const [hostile] = witnesses;
    if (hostile === undefined) throw new Error("there is a provider");
    clock.advance(10);
    const playing = rpc.play({ kind: "hostile", spoil }, { but: ["eth_chainId"] });
    try {
      await questions[what]?.(hostile.reader);
    } catch (error) {
      if (error instanceof ChainUnreachableError || error instanceof ChainMovedError) return;
      throw error;
    } finally {
      playing.stop();
    }
  };
  const answer = fc.oneof(
    { weight: 9, arbitrary: hostileAnswer },
    { weight: 1, arbitrary: plausibleAnswer },
  );
  await fc.assert(fc.asyncProperty(fc.constantFrom(...Object.keys(questions)), answer, ask), runs);
  clock.advance(1_000);
  expect(await readPaid(reader)).toEqual(paid);
}, 600_000);
