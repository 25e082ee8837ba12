import { expect, test } from "@jest/globals";
import { followedKey, readFollowedKey } from "./followed-link.ts";

test.each([
  { linkId: "plink_1", paymentId: null },
  { linkId: "plink_1", paymentId: "tx_1" },
])("%j is named by a text of its own, which names it alone", (followed) => {
  expect(readFollowedKey(followedKey(followed))).toEqual(followed);
});
