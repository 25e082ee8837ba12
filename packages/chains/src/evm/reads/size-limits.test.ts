import { afterEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type ReaderRig,
  startPaidChain,
  createReaderRig,
} from "../../testing/create-reader-rig.ts";
import type { SizeLimit } from "../../testing/scripted-rpc.ts";

/** Five payments in one block are enough to exceed the response limits of the nodes below. */
const setup = useRig(() => startPaidChain([1, 0, 5, 2, 0, 0, 1, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const limitBlocks = (code: number, message: string, status?: number): SizeLimit => ({
  unit: "blocks",
  max: 3,
  code,
  message,
  ...(status === undefined ? {} : { status }),
});
const limitLogs = (code: number, message: string, status?: number): SizeLimit => ({
  ...limitBlocks(code, message, status),
  unit: "logs",
});
const limitCalls = (
  code: number,
  message: string,
  overrides: Partial<SizeLimit> = {},
): SizeLimit => ({
  ...limitBlocks(code, message),
  unit: "calls",
  ...overrides,
});
const limitReplies = (code: number, message: string, status?: number): SizeLimit => ({
  ...limitBlocks(code, message, status),
  unit: "answers",
  max: 2,
});

/** These are exact messages from nodes and hosts. Their real limits are much larger. */
const hosts: [name: string, ...SizeLimit[]][] = [
  [
    "geth",
    limitBlocks(-32000, "exceed maximum block range: 5000"),
    limitCalls(-32600, "batch too large"),
  ],
  ["geth, whose batch's answer is full", limitReplies(-32003, "response too large")],
  ["geth, whose time for a batch is over", limitReplies(-32002, "request timed out")],
  [
    "Erigon",
    limitLogs(-32000, "query returned more than 10000 results"),
    limitCalls(
      -32600,
      "batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 120",
    ),
  ],
  [
    "Nethermind",
    limitLogs(-32005, "Too many logs requested. Max logs per response is 20000."),
    limitBlocks(-32602, "Block range 1500 exceeds the maximum of 1000 blocks per logs request"),
    limitCalls(-32005, "Batch size limit exceeded", { status: 503 }),
  ],
  [
    "Nethermind, whose batch's answer is full",
    limitReplies(-32005, "MaxBatchResponseBodySize of 32768KB exceeded"),
  ],
  [
    "Reth",
    limitBlocks(-32602, "query exceeds max block range 100000"),
    limitLogs(-32602, "query exceeds max results 20000, retry with the range 22382105-22382515"),
    limitCalls(-32010, "The batch request was too large"),
  ],
  [
    "Reth, whose answer is full",
    limitLogs(-32008, "Response is too big"),
    limitCalls(-32011, "The batch response was too large"),
  ],
  [
    "Besu",
    limitBlocks(-32005, "Requested range exceeds maximum RPC range limit"),
    limitCalls(-32005, "Number of requests exceeds max batch size"),
  ],
  ["Nitro", limitLogs(-32000, "logs matched by query exceeds limit of 10000")],
  [
    "Coreth",
    limitBlocks(-32000, "requested too many blocks from 1 to 9000, maximum is set to 2048"),
  ],
  [
    "Alchemy",
    limitLogs(
      -32602,
      "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x1, 0x2]",
    ),
  ],
  [
    "Alchemy, unpaid",
    limitBlocks(
      -32600,
      "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.",
      400,
    ),
  ],
  [
    "Infura",
    limitLogs(
      -32005,
      "query returned more than 10000 results. Try with this block range [0x1, 0x2].",
    ),
  ],
  [
    "QuickNode",
    limitBlocks(-32614, "eth_getLogs is limited to a 10,000 range", 413),
    limitCalls(0, "413 Request Entity Too Large", { status: 413, isHtmlPage: true }),
  ],
  [
    "Ankr",
    limitBlocks(-32600, "block range is too wide"),
    limitLogs(-32602, "query exceeds max results 20000, retry with the range 1-2"),
  ],
  [
    "Chainstack",
    limitBlocks(-32002, "Block range limit exceeded. See more details in the documentation"),
  ],
  [
    "dRPC",
    limitBlocks(35, "ranges over 10000 blocks are not supported on freetier", 400),
    limitCalls(31, "Batch of more than 3 requests are not allowed on free plan", { status: 500 }),
  ],
  [
    "Cloudflare",
    limitBlocks(
      -32047,
      "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    ),
  ],
  [
    "Base's own",
    limitBlocks(-32614, "block range too large", 413),
    limitLogs(-32020, "backend response too large", 500),
  ],
  ["PublicNode", limitBlocks(-32701, "exceed maximum block range: 50000")],
  [
    "1RPC",
    limitBlocks(-32602, "eth_getLogs is limited to a 50 blocks range"),
    limitLogs(-32602, "response size should not greater than 10000000 bytes"),
  ],
  ["thirdweb", limitBlocks(-32602, "Maximum allowed number of requested blocks is 1000")],
  ["Coinbase", limitBlocks(-32602, "please limit the query to at most 1000 blocks")],
  ["Harmony", limitBlocks(-32000, "query must be smaller than size 1024")],
];

describe.each(hosts)("%s at its limits", (_name, ...limits) => {
  test("receives smaller requests, and every header, log, receipt and sender is read", async () => {
    rig = await createReaderRig(setup.chain);
    const { reader, rpc } = rig;
    rpc.injectFault({ kind: "limited", limits });
    const { firstBlock, lastBlock, paidTransactions } = setup;
    const range = { fromBlock: firstBlock, toBlock: lastBlock };
    const headers = await reader.readHeaders(range);
    expect(headers).toHaveLength(lastBlock - firstBlock + 1);
    const hashes: string[] = [];
    for (let fromBlock = firstBlock; fromBlock <= lastBlock;) {
      const logRead = await reader.readPointers({ ...range, fromBlock, headers });
      hashes.push(...logRead.pointers.map(({ transactionHash }) => transactionHash));
      fromBlock = logRead.endHeader.number + 1;
    }
    const expected = paidTransactions.map(({ hash }) => hash);
    expect(hashes).toEqual(expected);
    expect([...(await reader.readReceipts(expected)).keys()].sort()).toEqual(expected.toSorted());
    expect((await reader.readSenders(expected)).size).toBe(expected.length);
    // Reaching a limit is not a failure of the provider, so its circuit breaker stays closed.
    expect(await rig.readCircuitState("rpc-1")).toBe(0);
    expect(rpc.getCounts().requests).toBeLessThan(200);
  });
});
