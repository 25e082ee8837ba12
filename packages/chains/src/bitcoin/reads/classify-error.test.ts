import { expect, test } from "@jest/globals";
import { classifyError } from "./classify-error.ts";

test.each([
  ["Core does not have the block", "getblock", -5, "Block not found", "behind"],
  ["Core does not have the height", "getblockhash", -8, "Block height out of range", "behind"],
  ["btcd does not have the height", "getblockhash", -1, "Block number out of range", "behind"],
  ["btcd does not have the block", "getblockheader", -32_603, "Internal error", "behind"],
  ["Core does not have the transaction", "getrawtransaction", -5, "No such mempool", "behind"],
  ["Core is starting", "getblockcount", -28, "Loading block index...", "unreachable"],
  ["Core has pruned the block", "getblock", -1, "Block not available (pruned data)", "refused"],
  ["a host limits calls", "getblock", -32_007, "50/second request limit", "refused"],
  ["a host limits calls in words", "getblock", -32_005, "Too Many Requests", "rate_limited"],
  ["the method does not exist", "getblock", -32_601, "Method not found", "refused"],
])("classifies the error if %s", (_, method, code, message, kind) => {
  expect(classifyError(method, { code, message, status: 200 })).toBe(kind);
});
