import { expect, test } from "@jest/globals";
import type { Overview } from "../../api/operations.ts";
import { summarizeReceived } from "./received.ts";

const createToken = (id: string, symbol: string) =>
  ({ id, token: { symbol, chain: { name: "Base" } } }) as Overview["tokens"][number];

test("returns all days of each token, including those without payments, and an exact total", () => {
  const received = [
    { day: "2026-11-20", tokenId: "usdc", amount: "0.1", paymentCount: 1 },
    { day: "2026-11-21", tokenId: "usdc", amount: "12345678901234567890.2", paymentCount: 2 },
    { day: "2026-11-21", tokenId: "eth", amount: "1", paymentCount: 1 },
  ];
  const tokens = [createToken("usdc", "USDC"), createToken("eth", "ETH")];
  const now = new Date("2026-11-21T23:59:59Z");
  const [usdc, eth] = summarizeReceived({ received, tokens }, { now, dayCount: 3 });
  expect(usdc).toEqual({
    tokenId: "usdc",
    symbol: "USDC",
    chain: "Base",
    total: "12345678901234567890.3",
    days: [
      { day: "2026-11-19", amount: "0", paymentCount: 0 },
      { day: "2026-11-20", amount: "0.1", paymentCount: 1 },
      { day: "2026-11-21", amount: "12345678901234567890.2", paymentCount: 2 },
    ],
  });
  expect(eth?.total).toBe("1");
});
