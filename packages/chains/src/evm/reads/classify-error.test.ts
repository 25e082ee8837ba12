import { expect, test } from "@jest/globals";
import { classifyError } from "./classify-error.ts";

// Messages from real nodes and providers. Their codes alone are ambiguous.
test.each([
  ["range", "eth_getLogs", -32005, "query returned more than 10000 results"],
  ["range", "eth_getLogs", -32602, "Log response size exceeded."],
  ["range", "eth_getLogs", -32600, "eth_getLogs is limited to a 10,000 range"],
  ["range", "eth_getLogs", -32000, "exceed maximum block range: 5000"],
  ["range", "eth_getLogs", -32000, "query timeout exceeded"],
  ["range", "eth_getLogs", -32012, "block range is too wide"],
  ["range", "eth_getLogs", -32005, "anything"],
  ["range", "eth_getTransactionReceipt", -32003, "response too large"],
  ["range", "eth_getTransactionReceipt", -32000, "batch response size limit exceeded"],
  ["range", "eth_getBlockByNumber", -32008, "Response is too big"],
  ["range", "eth_getTransactionReceipt", -32602, "response size exceeded the limit"],
  ["rate_limited", "eth_getLogs", -32005, "daily request count exceeded, request rate limited"],
  ["rate_limited", "eth_getLogs", 429, "exceeded its compute units per second capacity"],
  ["rate_limited", "eth_blockNumber", -32005, "limit exceeded"],
  ["rate_limited", "eth_getLogs", -32007, "50/second request limit reached"],
  ["behind", "eth_getLogs", -32602, "block range extends beyond current head block"],
  ["behind", "eth_getLogs", -32000, "requested to block 9 after last accepted block 7"],
  ["behind", "eth_getLogs", -32000, "unknown block"],
  ["behind", "eth_getBlockByNumber", -39001, "Unknown block"],
  ["behind", "eth_getTransactionCount", -32000, "header not found"],
  [
    "behind",
    "eth_getTransactionCount",
    -32602,
    "BlockOutOfRangeError: block height is 0 but requested was 64",
  ],
  ["reverted", "eth_call", 3, "execution reverted: no"],
  ["reverted", "eth_call", -32000, "execution reverted"],
  ["refused", "eth_getCode", 3, "execution reverted"],
  ["refused", "eth_getTransactionCount", -32000, "missing trie node"],
  ["refused", "eth_getLogs", -32601, "the method does not exist"],
])("classifies as %s: %s %i %s", (kind, method, code, message) => {
  expect(classifyError(method, { code, message, status: 200 })).toBe(kind);
});

test("classifies HTTP 429 as rate_limited, whatever the message", () => {
  const error = { code: -32000, message: "unknown block", status: 429 };
  expect(classifyError("eth_getLogs", error)).toBe("rate_limited");
});
