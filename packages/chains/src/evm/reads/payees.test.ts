import { expect, test } from "@jest/globals";
import { type Hex, keccak256 } from "viem";
import { computeBloom } from "@payment-links/local-chains/evm/compute-bloom";
import { type Bloom, parseBloom } from "./bloom.ts";
import { createPayees } from "./payees.ts";

const addresses = Array.from(
  { length: 2_000 },
  (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, "0")}`,
);
const toTopic = (address: Hex | undefined): Hex => `0x${"0".repeat(24)}${address?.slice(2) ?? ""}`;

const createBloom = (topics: readonly Hex[]): Bloom => parseBloom(computeBloom(topics));

const readPayees = async (ownerAddresses: readonly string[] = addresses) => {
  const readOwners = async () => ownerAddresses;
  return createPayees({ readAll: readOwners }, (address) => address as Hex).read();
};

test("filterByBlooms returns only the owners that a bloom may contain if the blocks have few logs", async () => {
  const { filterByBlooms } = await readPayees();
  const [firstTopic, secondTopic] = [toTopic(addresses[7]), toTopic(addresses[1_234])];
  const matchingTopics = await filterByBlooms([
    createBloom([firstTopic]),
    createBloom([]),
    createBloom([secondTopic]),
  ]);
  expect(matchingTopics).toContain(firstTopic);
  expect(matchingTopics).toContain(secondTopic);
  expect(matchingTopics.length).toBeLessThan(10);
  expect(await filterByBlooms([])).toEqual([]);
  expect(await filterByBlooms([createBloom([])])).toEqual([]);
});

test("filterByBlooms returns all owners if full blooms would exclude only a few", async () => {
  const { topics, filterByBlooms } = await readPayees();
  const otherTopics = Array.from({ length: 250 }, (_, index) =>
    keccak256(`0x${(index + 4096).toString(16)}`),
  );
  // The bloom of one such block excludes most owners. The blooms of 100 of them exclude almost
  // none.
  expect((await filterByBlooms([createBloom(otherTopics)])).length).toBeLessThan(topics.length / 4);
  expect(await filterByBlooms(Array.from({ length: 100 }, () => createBloom(otherTopics)))).toBe(
    topics,
  );
});

test("createPayees includes an owner at the first read after it was received", async () => {
  const ownerAddresses = addresses.slice(0, 3);
  const readOwners = async () => ownerAddresses;
  const payees = createPayees({ readAll: readOwners }, (address) => address as Hex);
  const lateTopic = toTopic(addresses[1_999]);
  expect((await payees.read()).isPayee(lateTopic)).toBe(false);
  ownerAddresses.push(addresses[1_999] ?? "0x");
  const { isPayee, filterByBlooms } = await payees.read();
  expect(isPayee(lateTopic)).toBe(true);
  const veryLateAddress = addresses[1_998] ?? "0x";
  ownerAddresses.push(veryLateAddress);
  expect((await payees.readIsOwner())(veryLateAddress)).toBe(true);
  expect(await filterByBlooms([createBloom([lateTopic])])).toEqual([lateTopic]);
});

// After the catalogue changes the family of a chain, older links can have addresses that are
// invalid on it. They must not stop the whole chain.
test("createPayees ignores an owner address that is invalid on the chain", async () => {
  const ownerAddresses = ["stranger", ...addresses.slice(0, 3)];
  const readOwners = async () => ownerAddresses;
  const toHexAddress = (address: string) => (address === "stranger" ? undefined : (address as Hex));
  const payees = createPayees({ readAll: readOwners }, toHexAddress);
  expect((await payees.read()).topics).toEqual(addresses.slice(0, 3).map(toTopic));
  ownerAddresses.push(addresses[3] ?? "0x");
  expect((await payees.read()).topics).toEqual(addresses.slice(0, 4).map(toTopic));
});
