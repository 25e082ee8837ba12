import { describe, expect, test } from "@jest/globals";
import { buildReturnUrl } from "./return-url.ts";

describe("a seller's return URL gets the link's id (rule API-39)", () => {
  test.each([
    ["https://shop.example/", "https://shop.example/?payment_link=plink_1"],
    ["https://shop.example/a/b", "https://shop.example/a/b?payment_link=plink_1"],
    ["https://shop.example/?", "https://shop.example/?payment_link=plink_1"],
    ["https://shop.example/?a=1&b", "https://shop.example/?a=1&b&payment_link=plink_1"],
    ["https://shop.example/?a=x+y%20z", "https://shop.example/?a=x+y%20z&payment_link=plink_1"],
    ["https://shop.example/#top", "https://shop.example/?payment_link=plink_1#top"],
    ["https://shop.example/?a=1#/done?b", "https://shop.example/?a=1&payment_link=plink_1#/done?b"],
  ])("%s becomes %s", (returnUrl, expected) => {
    expect(buildReturnUrl(returnUrl, "plink_1")).toBe(expected);
  });

  test("an id cannot add parameters or a fragment", () => {
    expect(buildReturnUrl("https://shop.example/", "a&b=1#c")).toBe(
      "https://shop.example/?payment_link=a%26b%3D1%23c",
    );
  });

  test.each([
    null,
    "",
    "/thanks",
    "http://shop.example/",
    "javascript:alert(1)",
    "data:text/html,x",
  ])("%j is not linked to", (returnUrl) => {
    expect(buildReturnUrl(returnUrl, "plink_1")).toBeNull();
  });
});
