import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseTronAddress, tronAddressToHex } from "@payment-links/chains/tron-address";
import { CatalogueData, createCatalogue, devnet } from "@payment-links/contracts";
import { createLog } from "@payment-links/runtime";
import { startAnvil } from "../evm/start-anvil.ts";
import { callRpc } from "../call-rpc.ts";
import { type LocalTronChain, startTronChain } from "./start-tron-chain.ts";
import { startTronNode } from "./start-tron-node.ts";

const finalizedLag = 4;
const blockRangeMax = 8;
const owner = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const reference = "00112233445566778899aabbccddeeff";

let chain: LocalTronChain;
beforeAll(async () => {
  chain = await startTronChain({ finalizedLag, blockRangeMax });
});
afterAll(() => chain.close());

const callChain = (method: string, ...params: readonly unknown[]) =>
  callRpc(chain.url, method, params);
const order = { reference, to: owner, amount: 5n };

type Fields = Record<string, unknown>;

/**
 * Returns the names of an object's fields, and the values of those fields that are always the same.
 */
const toShape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(toShape);
  if (typeof value !== "object" || value === null) return undefined;
  const constant = /^0x0*$/;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => left.localeCompare(right))
      .map(([name, field]) => [
        name,
        typeof field === "string" && constant.test(field) && constantFields.has(name)
          ? field
          : toShape(field),
      ]),
  );
};
const constantFields: ReadonlySet<string> = new Set([
  "baseFeePerGas",
  "difficulty",
  "extraData",
  "mixHash",
  "nonce",
  "receiptsRoot",
  "sha3Uncles",
  "stateRoot",
  "totalDifficulty",
  "type",
]);

const loadRecorded = async (): Promise<{ block: Fields; receipt: Fields }> =>
  JSON.parse(await readFile(new URL("recorded/nile-block.json", import.meta.url), "utf8"));

describe("a node of the local Tron chain", () => {
  test("returns blocks, transactions, receipts and logs in the same shape as Nile", async () => {
    const recorded = await loadRecorded();
    const hash = await chain.pay(order);
    await chain.mine();
    const block = (await callChain("eth_getBlockByNumber", "latest", true)) as Fields;
    const receipt = (await callChain("eth_getTransactionReceipt", hash)) as Fields;
    expect(toShape(block)).toEqual(toShape(recorded.block));
    expect(toShape(receipt)).toEqual(toShape(recorded.receipt));
    expect(await callChain("eth_getBlockReceipts", block["number"])).toEqual([receipt]);
    expect(await callChain("eth_getBlockByHash", block["hash"], true)).toEqual(block);
    expect(await callChain("eth_getTransactionByHash", hash)).toEqual(
      (block["transactions"] as unknown[])[0],
    );
    const logs = await callChain("eth_getLogs", { blockHash: block["hash"] });
    expect(logs).toEqual(receipt["logs"]);
    for (const { logsBloom } of [block, receipt]) expect(logsBloom).toBe(`0x${"00".repeat(256)}`);
    const address = devnet.erc20FeeProxy;
    const proxyLog = await callChain("eth_getLogs", { blockHash: block["hash"], address });
    expect(proxyLog).toMatchObject([{ address: devnet.erc20FeeProxy.toLowerCase() }]);
  });

  test("accepts latest, earliest and finalized, and rejects safe and pending", async () => {
    await chain.mine(finalizedLag + 1);
    const head = Number(await callChain("eth_blockNumber"));
    const readNumber = async (tag: string): Promise<number> =>
      Number(((await callChain("eth_getBlockByNumber", tag, false)) as Fields)["number"]);
    expect(await readNumber("latest")).toBe(head);
    expect(await readNumber("finalized")).toBe(head - finalizedLag);
    expect(await readNumber("earliest")).toBe(0);
    for (const tag of ["safe", "pending"]) {
      await expect(callChain("eth_getBlockByNumber", tag, false)).rejects.toMatchObject({
        code: -32602,
        message: `TAG ${tag} not supported`,
      });
      await expect(callChain("eth_getLogs", { fromBlock: tag })).rejects.toMatchObject({
        code: -32602,
      });
    }
    await expect(callChain("eth_getBlockByNumber", "newest", false)).rejects.toMatchObject({
      message: "invalid block number",
    });
    expect(await callChain("eth_getBlockByNumber", String(head), false)).toMatchObject({
      uncles: [],
    });
    expect(
      await callChain("eth_getBlockByNumber", `0x${(head + 9).toString(16)}`, false),
    ).toBeNull();
  });

  test("has catalogue data with the deployed contracts, in Tron addresses", async () => {
    const { chains, tokens } = createCatalogue(CatalogueData.parse(chain.catalogueData));
    expect(chains).toMatchObject([{ id: "local-tron", chainType: "TVM", caip2: "tron:0x53a" }]);
    const proxy = chains[0]?.feeProxies?.erc20 ?? "";
    for (const address of [proxy, ...tokens.map((token) => token.address)]) {
      expect(parseTronAddress(address)).toEqual({ address });
      const code = await callChain("eth_getCode", tronAddressToHex(address), "latest");
      expect(String(code).length).toBeGreaterThan(100);
    }
    expect(tokens.map(({ id }) => id)).toContain("usdc-local-tron");
  });

  test("has a block time of 3 seconds", async () => {
    await chain.mine(2);
    const head = Number(await callChain("eth_blockNumber"));
    const readTimestamp = async (blockNumber: number): Promise<number> =>
      Number(
        ((await callChain("eth_getBlockByNumber", String(blockNumber), false)) as Fields)[
          "timestamp"
        ],
      );
    expect((await readTimestamp(head)) - (await readTimestamp(head - 1))).toBe(3);
  });

  test("rejects ranges by the distance from the first to the last block, like java-tron", async () => {
    await chain.mine(blockRangeMax + 1);
    const head = Number(await callChain("eth_blockNumber"));
    const fetchLogs = (from: number, to: number | string) =>
      callChain("eth_getLogs", {
        fromBlock: `0x${from.toString(16)}`,
        toBlock: typeof to === "string" ? to : `0x${to.toString(16)}`,
      });
    await expect(fetchLogs(head - blockRangeMax - 1, "latest")).rejects.toMatchObject({
      code: -32602,
      message: `exceed max block range: ${blockRangeMax}`,
      data: "{}",
    });
    expect(await fetchLogs(head - blockRangeMax, head)).toBeInstanceOf(Array);
    // Blocks above the head are not included in the distance.
    expect(await fetchLogs(head - blockRangeMax, head + 9_000)).toBeInstanceOf(Array);
    expect(await fetchLogs(head + 1, head + 9)).toEqual([]);
    await expect(fetchLogs(2, 1)).rejects.toMatchObject({
      message: "please verify: fromBlock <= toBlock",
    });
    const unknownBlock = { blockHash: `0x${"11".repeat(32)}` };
    await expect(callChain("eth_getLogs", unknownBlock)).rejects.toMatchObject({
      code: -32602,
      message: "invalid blockHash",
    });
  });

  test("uses java-tron's range limit of 5000 by default", async () => {
    const log = createLog({ service: "chain", level: "fatal" });
    const node = await startAnvil({ flags: ["--number", "10000"], log });
    const tronNode = await startTronNode({ target: node.url, finalizedLag });
    const fetchLogsFrom = (fromBlock: string) =>
      callRpc(tronNode.url, "eth_getLogs", [{ fromBlock }]);
    await expect(fetchLogsFrom("4999")).rejects.toMatchObject({
      code: -32602,
      message: "exceed max block range: 5000",
    });
    expect(await fetchLogsFrom("10000")).toEqual([]);
    await tronNode.close();
    await node.close();
  });

  test("rejects filters with more than 1,000 addresses or topics", async () => {
    const address = Array.from({ length: 1_001 }, () => owner);
    await expect(callChain("eth_getLogs", { address })).rejects.toMatchObject({
      code: -32602,
      message: "exceed max addresses: 1000",
    });
    const topic = Array.from({ length: 1_001 }, () => `0x${"22".repeat(32)}`);
    await expect(callChain("eth_getLogs", { topics: [null, topic] })).rejects.toMatchObject({
      message: "exceed max topics: 1000",
    });
  });

  test("has no nonces, sends nothing, and has only the latest state", async () => {
    for (const method of ["eth_getTransactionCount", "eth_sendRawTransaction"]) {
      await expect(callChain(method, owner, "latest")).rejects.toMatchObject({
        code: -32601,
        message: `the method ${method} does not exist/is not available`,
      });
    }
    await expect(callChain("eth_feeHistory")).rejects.toMatchObject({
      code: -32601,
      message: "method not found",
    });
    const code = (block: string) => callChain("eth_getCode", devnet.erc20FeeProxy, block);
    expect(String(await code("latest")).length).toBeGreaterThan(2_000);
    await expect(code("0x1")).rejects.toMatchObject({
      message: "QUANTITY not supported, just support TAG as latest",
    });
    await expect(code("finalized")).rejects.toMatchObject({
      message: "TAG [earliest | pending | finalized | safe] not supported",
    });
    expect(await callChain("eth_accounts")).toEqual([]);
    expect(await callChain("eth_chainId")).toBe("0x53a");
    const hash = await chain.pay(order);
    expect(await callChain("eth_getTransactionByHash", hash)).toBeNull();
    await chain.mine();
    expect(await callChain("eth_getTransactionByHash", hash)).toMatchObject({
      nonce: `0x${"00".repeat(8)}`,
    });
  });

  test("can be overloaded, rejects batches that are too large, and can be an older version", async () => {
    const node = await chain.startNode();
    node.limitRate(1);
    const post = async (calls: unknown): Promise<unknown> =>
      (await fetch(node.url, { method: "POST", body: JSON.stringify(calls) })).json();
    const call = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] };
    expect(await post(call)).toEqual({
      Error: "class java.lang.IllegalAccessException : lack of computing resources",
    });
    expect(await post(call)).toMatchObject({ result: expect.stringMatching(/^0x/) });
    expect(await post(Array.from({ length: 101 }, () => call))).toMatchObject({
      error: { code: -32005 },
    });
    expect(await post(Array.from({ length: 100 }, () => call))).toHaveLength(100);
    expect(await callRpc(node.url, "eth_getBlockReceipts", ["latest"])).toBeInstanceOf(Array);
    node.downgrade();
    await expect(callRpc(node.url, "eth_getBlockReceipts", ["latest"])).rejects.toMatchObject({
      code: -32601,
    });
  });
});
