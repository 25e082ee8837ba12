import { expect, test } from "@jest/globals";
import { formatFollowedKey, parseFollowedKey } from "./followed-link.ts";

test.each([
  { linkId: "plink_1", payment: null },
  { linkId: "plink_1", payment: { source: "evm:1", prefix: "0xab:plink_1:" } },
  { linkId: "plink_1", payment: { source: "evm:1", prefix: " not  a hash:plink_1:" } },
])("%j is named by a text of its own, which names it alone", (followedLink) => {
  expect(parseFollowedKey(formatFollowedKey(followedLink))).toEqual(followedLink);
});
