import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Hex } from "viem";
import { serveHttp } from "@payment-links/local-chains/serve-json-rpc";
import { createLog, createMetrics, systemClock } from "@payment-links/runtime";
import { createChainReaders } from "../../rpc/create-chain-readers.ts";
import type { ChainReaders } from "../../reads/chain-reader.ts";
import { evmDialect } from "./create-readers.ts";
import { type EvmReader, createEvmReader } from "./evm-reader.ts";
import { createRpcMetrics } from "../../rpc/rpc-metrics.ts";

/** Two of these exceed the maximum response size. */
const dataBytes = 9 * 1024 * 1024;
const address = `0x${"11".repeat(20)}` as const;

type Call = { id: number; method: string; params: [Hex?] };

/** Creates a receipt for any transaction. Its log is larger than that of any real payment. */
const createReceipt = (hash: Hex) => ({
  transactionHash: hash,
  blockNumber: "0x1",
  blockHash: `0x${"22".repeat(32)}`,
  status: "0x1",
  from: address,
  logs: [{ address, topics: [], data: `0x${"00".repeat(dataBytes)}`, logIndex: "0x0" }],
});

/**
 * The number of calls that the node answers in a batch. For the other calls, it returns geth's
 * error for a response that is too large.
 */
let callsAnsweredMax: number;
let server: Awaited<ReturnType<typeof serveHttp>>;
let readers: ChainReaders<EvmReader>;
beforeEach(async () => {
  callsAnsweredMax = Infinity;
  server = await serveHttp(async (request, response) => {
    const calls = JSON.parse(await text(request)) as Call | Call[];
    const replies = [calls].flat().map(({ id, method, params: [hash] }, index) =>
      index < callsAnsweredMax
        ? {
            id,
            result: method === "eth_chainId" || hash === undefined ? "0x0" : createReceipt(hash),
          }
        : { id, error: { code: -32003, message: "response too large" } },
    );
    response.end(JSON.stringify(Array.isArray(calls) ? replies : replies[0]));
  });
  const options = {
    chainId: "0",
    dialect: evmDialect({ chainName: "0" }),
    urls: [server.url],
    rangeBlocksMax: 1,
    // This test is about the size of responses, not about speed. A busy machine needs a while to
    // transfer 27 MB.
    timing: { timeoutMs: 100_000, failoverMsMax: 100_000 },
    clock: systemClock,
    log: createLog({ service: "test", level: "fatal" }),
    metrics: createRpcMetrics(createMetrics("test")),
  };
  const chain = {
    proxies: { erc20: address, ethereum: null },
    tokens: new Map(),
    nativeToken: undefined,
    formatAddress: (input: string) => input,
  };
  const watchedLogs = { proxies: [], contracts: new Set<Hex>(), hasLogsBloom: false };
  readers = createChainReaders(options, (readerContext) =>
    createEvmReader(readerContext, chain, watchedLogs),
  );
});
afterEach(async () => {
  readers.close();
  await server.close();
});

test("the EVM reader splits receipts that are together too large for one response", async () => {
  const hashes = ["aa", "bb", "cc"].map((byte): Hex => `0x${byte.repeat(32)}`);
  const receipts = await readers.reader.readReceipts(hashes);
  expect([...receipts.keys()]).toEqual(hashes);
});

test("the EVM reader requests a batch in parts if the node answers only as much as fits", async () => {
  callsAnsweredMax = 1;
  const hashes = ["aa", "bb", "cc"].map((byte): Hex => `0x${byte.repeat(32)}`);
  const receipts = await readers.reader.readReceipts(hashes);
  expect([...receipts.keys()]).toEqual(hashes);
});
