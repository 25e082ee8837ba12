import { expect, test } from "@jest/globals";
import { checkoutPageUrl, ownerImagePath, transactionPageUrl } from "./pages.ts";

test("the pages have the addresses of rules API-9 and API-10", () => {
  expect(checkoutPageUrl("https://pay.example", "alice", "plink_1")).toBe(
    "https://pay.example/@alice/pay/plink_1",
  );
  expect(transactionPageUrl("https://pay.example", "tx_1")).toBe("https://pay.example/tx/tx_1");
});

test("an owner's image has an address that says nothing of its URL, and is the same every time", () => {
  const path = ownerImagePath("user_1", "https://img.example/ä.png?who=me");
  expect(path).toMatch(/^\/checkout\/images\/user_1\/[0-9a-f]{32}$/);
  expect(ownerImagePath("user_1", "https://img.example/ä.png?who=me")).toBe(path);
  expect(ownerImagePath("user_1", "https://img.example/ä.png?who=you")).not.toBe(path);
});
