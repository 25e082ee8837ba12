import { expect, test } from "@jest/globals";
import { formatTokenAmount } from "./token-amount.ts";

const usdc = { symbol: "USDC", isStablecoin: true };
const ether = { symbol: "ETH", isStablecoin: null };

test.each([
  ["18.5", usdc, "18.50 USDC"],
  ["1000", usdc, "1,000.00 USDC"],
  ["0.000001", usdc, "0.000001 USDC"],
  ["12345678901234567890.123456", usdc, "12,345,678,901,234,567,890.123456 USDC"],
  ["18.5", ether, "18.5 ETH"],
  ["1", ether, "1 ETH"],
])("the amount %s of %j is shown as %s", (amount, token, text) => {
  expect(formatTokenAmount(amount, token)).toBe(text);
});
