import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { createPublicClient, http } from "viem";
import { waitForReceipt } from "./deploy-contracts.ts";

const hash = `0x${"11".repeat(32)}` as const;
const receipt = { transactionHash: hash, blockNumber: "0x5", status: "0x1", logs: [] };
const requestsWithoutReceipt = 3;

/** No other block is mined, and the node returns the receipt only after a few requests. */
test("waitForReceipt finds a receipt that appears without another block", async () => {
  let receiptRequestCount = 0;
  const node = createServer(async (request, response) => {
    const { id, method } = (await json(request)) as { id: number; method: string };
    const createResult = (): unknown => {
      if (method === "eth_blockNumber") return "0x5";
      if (method === "eth_getTransactionByHash") return { hash, blockNumber: null };
      if (method !== "eth_getTransactionReceipt") return null;
      receiptRequestCount += 1;
      return receiptRequestCount > requestsWithoutReceipt ? receipt : null;
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: createResult() }));
  });
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  const { port } = node.address() as AddressInfo;
  const client = createPublicClient({ transport: http(`http://127.0.0.1:${port}`) });
  expect(await waitForReceipt(client, hash)).toMatchObject({ status: "success" });
  node.close();
  node.closeAllConnections();
});
