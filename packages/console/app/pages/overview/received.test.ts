import { describe, expect, test } from "@jest/globals";
import type { Overview } from "../../api/operations.ts";
import { toUnits } from "../../ui/decimal.ts";
import { computeChangePercent, summarizeReceived } from "./received.ts";

const createToken = (id: string, symbol: string) =>
  ({ id, token: { symbol, chain: { name: "Base" } } }) as Overview["tokens"][number];

const now = new Date("2026-11-21T23:59:59Z");

describe("summarizeReceived", () => {
  test("returns all days of each token, including those without payments, and an exact total", () => {
    const received = [
      { day: "2026-11-20", tokenId: "usdc", amount: "0.1", paymentCount: 1 },
      { day: "2026-11-21", tokenId: "usdc", amount: "12345678901234567890.2", paymentCount: 2 },
      { day: "2026-11-21", tokenId: "eth", amount: "1", paymentCount: 1 },
    ];
    const tokens = [createToken("usdc", "USDC"), createToken("eth", "ETH")];
    const [usdc, eth] = summarizeReceived({ received, tokens }, { now, dayCount: 3 });
    expect(usdc).toMatchObject({
      tokenId: "usdc",
      token: { symbol: "USDC" },
      total: "12345678901234567890.3",
      changePercent: undefined,
      days: [
        { day: "2026-11-19", amount: "0", paymentCount: 0 },
        { day: "2026-11-20", amount: "0.1", paymentCount: 1 },
        { day: "2026-11-21", amount: "12345678901234567890.2", paymentCount: 2 },
      ],
    });
    expect(eth?.total).toBe("1");
  });

  test("compares the period with the one before it, and adds only its own days to the total", () => {
    const createRow = (day: string, amount: string) => ({
      day,
      tokenId: "usdc",
      amount,
      paymentCount: 1,
    });
    const received = [
      createRow("2026-11-17", "1000"),
      createRow("2026-11-18", "60"),
      createRow("2026-11-19", "40"),
      createRow("2026-11-20", "12"),
      createRow("2026-11-21", "100"),
    ];
    const tokens = [createToken("usdc", "USDC"), createToken("eth", "ETH")];
    const summaries = summarizeReceived({ received, tokens }, { now, dayCount: 2 });
    expect(summaries).toMatchObject([{ tokenId: "usdc", total: "112", changePercent: 12n }]);
  });
});

test.each([
  ["112", "100", 12n],
  ["88", "100", -12n],
  ["100.5", "100", 1n],
  ["100.499999999999999999", "100", 0n],
  ["99.5", "100", -1n],
  ["100.000000000000000002", "100.000000000000000001", 0n],
  ["24690246902469024690.2", "12345123451234512345.1", 100n],
  ["0", "5", -100n],
  ["5", "0", undefined],
  ["0", "0", undefined],
])("the change from a total of %s, before %s, is %s percent", (total, previousTotal, percent) => {
  expect(computeChangePercent(toUnits(total), toUnits(previousTotal))).toBe(percent);
});
