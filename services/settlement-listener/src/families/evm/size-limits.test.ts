import { afterEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type ReaderRig, openPaidChain, openReaderRig } from "../../testing/open-reader-rig.ts";
import type { SizeLimit } from "../../testing/scripted-rpc.ts";

/** Five payments in one block are more than the nodes below give in one answer. */
const setup = useRig(() => openPaidChain([1, 0, 5, 2, 0, 0, 1, 0, 0, 1]));
let rig: ReaderRig | undefined;
afterEach(() => rig?.close());

const blocks = (code: number, message: string, status?: number): SizeLimit => ({
  of: "blocks",
  max: 3,
  code,
  message,
  ...(status === undefined ? {} : { status }),
});
const logs = (code: number, message: string, status?: number): SizeLimit => ({
  ...blocks(code, message, status),
  of: "logs",
});
const calls = (code: number, message: string, more: Partial<SizeLimit> = {}): SizeLimit => ({
  ...blocks(code, message),
  of: "calls",
  ...more,
});
const answers = (code: number, message: string, status?: number): SizeLimit => ({
  ...blocks(code, message, status),
  of: "answers",
  max: 2,
});

/** In the very words of the nodes and hosts, whose figures are larger by some thousands. */
const hosts: [name: string, ...SizeLimit[]][] = [
  ["geth", blocks(-32000, "exceed maximum block range: 5000"), calls(-32600, "batch too large")],
  ["geth, whose batch's answer is full", answers(-32003, "response too large")],
  ["geth, whose time for a batch is over", answers(-32002, "request timed out")],
  [
    "Erigon",
    logs(-32000, "query returned more than 10000 results"),
    calls(
      -32600,
      "batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 120",
    ),
  ],
  [
    "Nethermind",
    logs(-32005, "Too many logs requested. Max logs per response is 20000."),
    blocks(-32602, "Block range 1500 exceeds the maximum of 1000 blocks per logs request"),
    calls(-32005, "Batch size limit exceeded", { status: 503 }),
  ],
  [
    "Nethermind, whose batch's answer is full",
    answers(-32005, "MaxBatchResponseBodySize of 32768KB exceeded"),
  ],
  [
    "Reth",
    blocks(-32602, "query exceeds max block range 100000"),
    logs(-32602, "query exceeds max results 20000, retry with the range 22382105-22382515"),
    calls(-32010, "The batch request was too large"),
  ],
  [
    "Reth, whose answer is full",
    logs(-32008, "Response is too big"),
    calls(-32011, "The batch response was too large"),
  ],
  [
    "Besu",
    blocks(-32005, "Requested range exceeds maximum RPC range limit"),
    calls(-32005, "Number of requests exceeds max batch size"),
  ],
  ["Nitro", logs(-32000, "logs matched by query exceeds limit of 10000")],
  ["Coreth", blocks(-32000, "requested too many blocks from 1 to 9000, maximum is set to 2048")],
  [
    "Alchemy",
    logs(
      -32602,
      "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x1, 0x2]",
    ),
  ],
  [
    "Alchemy, unpaid",
    blocks(
      -32600,
      "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.",
      400,
    ),
  ],
  [
    "Infura",
    logs(-32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."),
  ],
  [
    "QuickNode",
    blocks(-32614, "eth_getLogs is limited to a 10,000 range", 413),
    calls(0, "413 Request Entity Too Large", { status: 413, isPage: true }),
  ],
  [
    "Ankr",
    blocks(-32600, "block range is too wide"),
    logs(-32602, "query exceeds max results 20000, retry with the range 1-2"),
  ],
  [
    "Chainstack",
    blocks(-32002, "Block range limit exceeded. See more details in the documentation"),
  ],
  [
    "dRPC",
    blocks(35, "ranges over 10000 blocks are not supported on freetier", 400),
    calls(31, "Batch of more than 3 requests are not allowed on free plan", { status: 500 }),
  ],
  [
    "Cloudflare",
    blocks(
      -32047,
      "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    ),
  ],
  [
    "Base's own",
    blocks(-32614, "block range too large", 413),
    logs(-32020, "backend response too large", 500),
  ],
  ["PublicNode", blocks(-32701, "exceed maximum block range: 50000")],
  [
    "1RPC",
    blocks(-32602, "eth_getLogs is limited to a 50 blocks range"),
    logs(-32602, "response size should not greater than 10000000 bytes"),
  ],
  ["thirdweb", blocks(-32602, "Maximum allowed number of requested blocks is 1000")],
  ["Coinbase", blocks(-32602, "please limit the query to at most 1000 blocks")],
  ["Harmony", blocks(-32000, "query must be smaller than size 1024")],
];

describe.each(hosts)("%s at its limits", (_name, ...limits) => {
  test("is asked for less at once: every header, log, receipt and sender is there", async () => {
    rig = await openReaderRig(setup.chain);
    const { reader, rpc } = rig;
    rpc.play({ kind: "limited", limits });
    const { firstBlock, lastBlock, paid } = setup;
    const range = { fromBlock: firstBlock, toBlock: lastBlock };
    const headers = await reader.readHeaders(range);
    expect(headers).toHaveLength(lastBlock - firstBlock + 1);
    const hashes: string[] = [];
    for (let fromBlock = firstBlock; fromBlock <= lastBlock;) {
      const read = await reader.readLogs({ ...range, fromBlock, headers });
      hashes.push(...read.logs.map(({ transactionHash }) => transactionHash));
      fromBlock = read.end.number + 1;
    }
    const expected = paid.map(({ hash }) => hash);
    expect(hashes).toEqual(expected);
    expect([...(await reader.readReceipts(expected)).keys()].sort()).toEqual(expected.toSorted());
    expect((await reader.readSenders(expected)).size).toBe(expected.length);
    // A limit is no failure of the provider: it is not left alone for it.
    expect(await rig.circuit("rpc-1")).toBe(0);
    expect(rpc.counts().requests).toBeLessThan(200);
  });
});
