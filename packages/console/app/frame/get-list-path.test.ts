import { expect, test } from "@jest/globals";
import { getListPath } from "./get-list-path.ts";

test.each([
  ["/", "/"],
  ["/links", "/links"],
  ["/links/new", "/links/new"],
  ["/links/plink_new", "/links"],
  ["/webhooks/whend_1", "/webhooks"],
  ["/account/wallets", "/account/wallets"],
])("the list of %s is %s", (path, listPath) => {
  expect(getListPath(path)).toBe(listPath);
});
