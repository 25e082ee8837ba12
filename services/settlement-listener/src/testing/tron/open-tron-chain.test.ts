import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  CatalogueData,
  createCatalogue,
  devnet,
  readTronAddress,
  tronToHex,
} from "@payment-links/contracts";
import { openLog } from "@payment-links/runtime";
import { startAnvil } from "../anvil/start-anvil.ts";
import { askRpc } from "../ask-rpc.ts";
import { type TronChain, openTronChain } from "./open-tron-chain.ts";
import { openTronFront } from "./open-tron-front.ts";

const finalizedLag = 4;
const blockRangeMax = 8;
const owner = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const reference = "00112233445566778899aabbccddeeff";

let chain: TronChain;
beforeAll(async () => {
  chain = await openTronChain({ finalizedLag, blockRangeMax });
});
afterAll(() => chain.close());

const ask = (method: string, ...params: readonly unknown[]) => askRpc(chain.url, method, params);
const order = { reference, to: owner, amount: 5n };

type Fields = Record<string, unknown>;

/** The names of an object's fields, and what is in them where that is always the same. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return undefined;
  const constant = /^0x0*$/;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, field]) => [
        name,
        typeof field === "string" && constant.test(field) && steady.has(name)
          ? field
          : shapeOf(field),
      ]),
  );
};
const steady: ReadonlySet<string> = new Set([
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

const readRecorded = async (): Promise<{ block: Fields; receipt: Fields }> =>
  JSON.parse(await readFile(new URL("recorded/nile-block.json", import.meta.url), "utf8"));

describe("a node of the local Tron", () => {
  test("answers blocks, transactions, receipts and logs in the shape that Nile's have", async () => {
    const recorded = await readRecorded();
    const hash = await chain.pay(order);
    await chain.mine();
    const block = (await ask("eth_getBlockByNumber", "latest", true)) as Fields;
    const receipt = (await ask("eth_getTransactionReceipt", hash)) as Fields;
    expect(shapeOf(block)).toEqual(shapeOf(recorded.block));
    expect(shapeOf(receipt)).toEqual(shapeOf(recorded.receipt));
    expect(await ask("eth_getBlockReceipts", block["number"])).toEqual([receipt]);
    expect(await ask("eth_getBlockByHash", block["hash"], true)).toEqual(block);
    expect(await ask("eth_getTransactionByHash", hash)).toEqual(
      (block["transactions"] as unknown[])[0],
    );
    const logs = await ask("eth_getLogs", { blockHash: block["hash"] });
    expect(logs).toEqual(receipt["logs"]);
    for (const { logsBloom } of [block, receipt]) expect(logsBloom).toBe(`0x${"00".repeat(256)}`);
    const address = devnet.erc20FeeProxy;
    const proxyLog = await ask("eth_getLogs", { blockHash: block["hash"], address });
    expect(proxyLog).toMatchObject([{ address: devnet.erc20FeeProxy.toLowerCase() }]);
  });

  test("knows latest, earliest and finalized, and refuses safe and pending", async () => {
    await chain.mine(finalizedLag + 1);
    const head = Number(await ask("eth_blockNumber"));
    const number = async (tag: string): Promise<number> =>
      Number(((await ask("eth_getBlockByNumber", tag, false)) as Fields)["number"]);
    expect(await number("latest")).toBe(head);
    expect(await number("finalized")).toBe(head - finalizedLag);
    expect(await number("earliest")).toBe(0);
    for (const tag of ["safe", "pending"]) {
      await expect(ask("eth_getBlockByNumber", tag, false)).rejects.toMatchObject({
        code: -32602,
        message: `TAG ${tag} not supported`,
      });
      await expect(ask("eth_getLogs", { fromBlock: tag })).rejects.toMatchObject({ code: -32602 });
    }
    await expect(ask("eth_getBlockByNumber", "newest", false)).rejects.toMatchObject({
      message: "invalid block number",
    });
    expect(await ask("eth_getBlockByNumber", String(head), false)).toMatchObject({ uncles: [] });
    expect(await ask("eth_getBlockByNumber", `0x${(head + 9).toString(16)}`, false)).toBeNull();
  });

  test("its catalogue names what is deployed, in Tron's form of addresses", async () => {
    const { chains, tokens } = createCatalogue(CatalogueData.parse(chain.catalogueData));
    expect(chains).toMatchObject([{ id: "local-tron", chainType: "TVM", caip2: "tron:0x53a" }]);
    const proxy = chains[0]?.feeProxies?.erc20 ?? "";
    for (const address of [proxy, ...tokens.map((token) => token.address)]) {
      expect(readTronAddress(address)).toEqual({ address });
      const code = await ask("eth_getCode", tronToHex(address), "latest");
      expect(String(code).length).toBeGreaterThan(100);
    }
    expect(tokens.map(({ id }) => id)).toContain("usdc-local-tron");
  });

  test("blocks are three seconds apart", async () => {
    await chain.mine(2);
    const head = Number(await ask("eth_blockNumber"));
    const time = async (number: number): Promise<number> =>
      Number(((await ask("eth_getBlockByNumber", String(number), false)) as Fields)["timestamp"]);
    expect((await time(head)) - (await time(head - 1))).toBe(3);
  });

  test("refuses ranges as java-tron does: by the distance from the first to the last", async () => {
    await chain.mine(blockRangeMax + 1);
    const head = Number(await ask("eth_blockNumber"));
    const logs = (from: number, to: number | string) =>
      ask("eth_getLogs", {
        fromBlock: `0x${from.toString(16)}`,
        toBlock: typeof to === "string" ? to : `0x${to.toString(16)}`,
      });
    await expect(logs(head - blockRangeMax - 1, "latest")).rejects.toMatchObject({
      code: -32602,
      message: `exceed max block range: ${blockRangeMax}`,
      data: "{}",
    });
    expect(await logs(head - blockRangeMax, head)).toBeInstanceOf(Array);
    // What is above the head counts for nothing.
    expect(await logs(head - blockRangeMax, head + 9_000)).toBeInstanceOf(Array);
    expect(await logs(head + 1, head + 9)).toEqual([]);
    await expect(logs(2, 1)).rejects.toMatchObject({
      message: "please verify: fromBlock <= toBlock",
    });
    const unknown = { blockHash: `0x${"11".repeat(32)}` };
    await expect(ask("eth_getLogs", unknown)).rejects.toMatchObject({
      code: -32602,
      message: "invalid blockHash",
    });
  });

  test("takes java-tron's own range of 5000 if it is given none", async () => {
    const log = openLog({ service: "chain", level: "fatal" });
    const node = await startAnvil({ flags: ["--number", "10000"], log });
    const front = await openTronFront({ target: node.url, finalizedLag });
    const from = (fromBlock: string) => askRpc(front.url, "eth_getLogs", [{ fromBlock }]);
    await expect(from("4999")).rejects.toMatchObject({
      code: -32602,
      message: "exceed max block range: 5000",
    });
    expect(await from("10000")).toEqual([]);
    await front.close();
    await node.close();
  });

  test("refuses filters of more than a thousand addresses or topics", async () => {
    const address = Array.from({ length: 1_001 }, () => owner);
    await expect(ask("eth_getLogs", { address })).rejects.toMatchObject({
      code: -32602,
      message: "exceed max addresses: 1000",
    });
    const topic = Array.from({ length: 1_001 }, () => `0x${"22".repeat(32)}`);
    await expect(ask("eth_getLogs", { topics: [null, topic] })).rejects.toMatchObject({
      message: "exceed max topics: 1000",
    });
  });

  test("has no nonces, sends nothing, and knows no state but the newest", async () => {
    for (const method of ["eth_getTransactionCount", "eth_sendRawTransaction"]) {
      await expect(ask(method, owner, "latest")).rejects.toMatchObject({
        code: -32601,
        message: `the method ${method} does not exist/is not available`,
      });
    }
    await expect(ask("eth_feeHistory")).rejects.toMatchObject({
      code: -32601,
      message: "method not found",
    });
    const code = (block: string) => ask("eth_getCode", devnet.erc20FeeProxy, block);
    expect(String(await code("latest")).length).toBeGreaterThan(2_000);
    await expect(code("0x1")).rejects.toMatchObject({
      message: "QUANTITY not supported, just support TAG as latest",
    });
    await expect(code("finalized")).rejects.toMatchObject({
      message: "TAG [earliest | pending | finalized | safe] not supported",
    });
    expect(await ask("eth_accounts")).toEqual([]);
    expect(await ask("eth_chainId")).toBe("0x53a");
    const hash = await chain.pay(order);
    expect(await ask("eth_getTransactionByHash", hash)).toBeNull();
    await chain.mine();
    expect(await ask("eth_getTransactionByHash", hash)).toMatchObject({
      nonce: `0x${"00".repeat(8)}`,
    });
  });

  test("a fork drops a payment, which is mined again in another block", async () => {
    const hash = await chain.pay(order);
    await chain.mine();
    const first = (await ask("eth_getTransactionReceipt", hash)) as Fields;
    const raw = await chain.rawOf(hash);
    await chain.mine();
    await chain.reorg(2);
    expect(await ask("eth_getTransactionReceipt", hash)).toBeNull();
    await expect(ask("eth_getLogs", { blockHash: first["blockHash"] })).rejects.toMatchObject({
      message: "invalid blockHash",
    });
    await chain.reorg(1, [{ raw, offset: 0 }]);
    const again = (await ask("eth_getTransactionReceipt", hash)) as Fields;
    expect(again["blockHash"]).not.toBe(first["blockHash"]);
  });

  test("is asked too much, is asked in batches too large, and is too old", async () => {
    const node = await chain.openNode();
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
    expect(await askRpc(node.url, "eth_getBlockReceipts", ["latest"])).toBeInstanceOf(Array);
    node.becomeOld();
    await expect(askRpc(node.url, "eth_getBlockReceipts", ["latest"])).rejects.toMatchObject({
      code: -32601,
    });
  });
});
