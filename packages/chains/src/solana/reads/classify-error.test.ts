import { expect, test } from "@jest/globals";
import { classifyError } from "./classify-error.ts";

test.each([
  [-32004, "Block not available for slot 5", 200, "behind"],
  [-32005, "Node is behind by 200 slots", 200, "behind"],
  [-32007, "Slot 5 was skipped, or missing due to ledger jump to recent snapshot", 200, "behind"],
  [-32009, "Slot 5 was skipped, or missing in long-term storage", 200, "behind"],
  [-32014, "Block status not yet available for slot 5", 200, "behind"],
  [-32016, "Minimum context slot has not been reached", 200, "behind"],
  [-32015, "Transaction version (1) is not supported by the requesting client", 200, "refused"],
  [-32602, "Invalid params", 200, "refused"],
  [429, "Too many requests for a specific RPC call", 200, "rate_limited"],
  [-32000, "nothing", 429, "rate_limited"],
  [-32600, "response size exceeds the maximum", 200, "range"],
] as const)("classifies %i: %s, with status %i, as %s", (code, message, status, kind) => {
  expect(classifyError("getBlock", { code, message, status })).toBe(kind);
});
