import { expect, test } from "@jest/globals";
import { newId } from "@payment-links/contracts";
import { parseSearch } from "./link-search.ts";

const linkId = newId("plink");
const reference = "00ff".repeat(8);

test.each([
  [linkId, { linkId }],
  [` ${linkId}\n`, { linkId }],
  [`0x${reference}`, { paymentReference: reference }],
  [` 0X${reference.toUpperCase()} `, { paymentReference: reference }],
  [linkId.slice(0, -1), { text: linkId.slice(0, -1) }],
  [newId("tx"), { text: expect.stringMatching(/^tx_/) }],
  [reference, { text: reference }],
  [`0x${reference}0`, { text: `0x${reference}0` }],
  [" 50 % off ", { text: " 50 % off " }],
])("parses %j as an identifier if it is one, and otherwise as text", (input, expected) => {
  expect(parseSearch(input)).toEqual(expected);
});
