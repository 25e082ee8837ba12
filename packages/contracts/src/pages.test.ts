import { expect, test } from "@jest/globals";
import { checkoutPageUrl, transactionPageUrl } from "./pages.ts";

test("the pages have the addresses of rules API-9 and API-10", () => {
  expect(checkoutPageUrl("https://pay.example", "alice", "plink_1")).toBe(
    "https://pay.example/@alice/pay/plink_1",
  );
  expect(transactionPageUrl("https://pay.example", "tx_1")).toBe("https://pay.example/tx/tx_1");
});
