import { expect, test } from "@jest/globals";
import {
  buildCheckoutPageUrl,
  buildOwnerImagePath,
  buildPictureUrl,
  buildTransactionPageUrl,
  findPicturePath,
} from "./pages.ts";

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

test("only a URL of this installation's pictures has a picture's path", () => {
  const digest = "0123456789abcdef".repeat(4);
  const path = `/checkout/pictures/${digest}`;
  expect(buildPictureUrl("https://pay.example", digest)).toBe(`https://pay.example${path}`);
  expect(findPicturePath("https://pay.example", `https://pay.example${path}`)).toBe(path);
  for (const url of [
    `https://other.example${path}`,
    `https://pay.example.evil.example${path}`,
    `https://pay.example${path}0`,
    `https://pay.example${path}?a=b`,
    `https://pay.example/checkout/pictures/../images/${digest}`,
    `http://pay.example${path}`,
  ]) {
    expect(findPicturePath("https://pay.example", url)).toBeUndefined();
  }
});
