import { expect, test } from "@jest/globals";
import { createPublicClient, http } from "viem";
import { serveJsonRpc } from "../serve-json-rpc.ts";
import { waitForReceipt } from "./deploy-contracts.ts";

const hash = `0x${"11".repeat(32)}` as const;
const receipt = { transactionHash: hash, blockNumber: "0x5", status: "0x1", logs: [] };
const requestsWithoutReceipt = 3;

/** No other block is mined, and the node returns the receipt only after a few requests. */
test("waitForReceipt finds a receipt that appears without another block", async () => {
  let receiptRequestCount = 0;
  const node = await serveJsonRpc({
    handleCall: (method) => {
      if (method === "eth_blockNumber") return "0x5";
      if (method === "eth_getTransactionByHash") return { hash, blockNumber: null };
      if (method !== "eth_getTransactionReceipt") return null;
      receiptRequestCount += 1;
      return receiptRequestCount > requestsWithoutReceipt ? receipt : null;
    },
  });
  const client = createPublicClient({ transport: http(node.url) });
  expect(await waitForReceipt(client, hash)).toMatchObject({ status: "success" });
  await node.close();
});
