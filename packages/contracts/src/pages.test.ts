import { expect, test } from "@jest/globals";
import { buildCheckoutPageUrl, buildOwnerImagePath, buildTransactionPageUrl } from "./pages.ts";

test("the pages have the URLs of rules API-9 and API-10", () => {
  expect(buildCheckoutPageUrl("https://pay.example", "alice", "plink_1")).toBe(
    "https://pay.example/@alice/pay/plink_1",
  );
  expect(buildTransactionPageUrl("https://pay.example", "tx_1")).toBe(
    "https://pay.example/tx/tx_1",
  );
});

test("the path of an owner's image is stable and reveals nothing about its URL", () => {
  const path = buildOwnerImagePath("user_1", "https://img.example/ä.png?who=me");
  expect(path).toMatch(/^\/checkout\/images\/user_1\/[0-9a-f]{32}$/);
  expect(buildOwnerImagePath("user_1", "https://img.example/ä.png?who=me")).toBe(path);
  expect(buildOwnerImagePath("user_1", "https://img.example/ä.png?who=you")).not.toBe(path);
});
