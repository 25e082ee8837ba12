import { expect, test } from "@jest/globals";
import { formatFollowedKey, parseFollowedKey } from "./followed-link.ts";

test.each([
  { linkId: "plink_1", payment: null },
  { linkId: "plink_1", payment: { source: "evm:1", prefix: "0xab:plink_1:" } },
  { linkId: "plink_1", payment: { source: "evm:1", prefix: " not  a hash:plink_1:" } },
])("formats %j as a unique key and parses it back", (followedLink) => {
  expect(parseFollowedKey(formatFollowedKey(followedLink))).toEqual(followedLink);
});
