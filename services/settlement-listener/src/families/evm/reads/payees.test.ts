import { expect, test } from "@jest/globals";
import { type Hex, keccak256 } from "viem";
import { type Bloom } from "./bloom.ts";
import { openPayees } from "./payees.ts";

const addresses = Array.from(
  { length: 2_000 },
  (_, index): Hex => `0x${(index + 1).toString(16).padStart(40, "0")}`,
);
const topicOf = (address: Hex | undefined): Hex => `0x${"0".repeat(24)}${address?.slice(2) ?? ""}`;

/** The bloom of a block that holds these topics, as a node makes it (Yellow Paper, §4.4.3). */
const bloomOf = (topics: readonly Hex[]): Bloom => {
  const bits = new Uint8Array(256);
  for (const topic of topics) {
    const hash = Buffer.from(keccak256(topic, "bytes"));
    for (const at of [0, 2, 4]) {
      const bit = hash.readUInt16BE(at) % 2048;
      bits[255 - (bit >> 3)] = (bits[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7));
    }
  }
  return bits;
};

const open = async (list: readonly string[] = addresses) => {
  const known = async () => list;
  return openPayees({ read: known }, (address) => address as Hex).read();
};

test("of blocks that hold little, those owners alone are asked for whom a bloom may hold", async () => {
  const { listHeld } = await open();
  const [first, second] = [topicOf(addresses[7]), topicOf(addresses[1_234])];
  const held = await listHeld([bloomOf([first]), bloomOf([]), bloomOf([second])]);
  expect(held).toContain(first);
  expect(held).toContain(second);
  expect(held.length).toBeLessThan(10);
  expect(await listHeld([])).toEqual([]);
  expect(await listHeld([bloomOf([])])).toEqual([]);
});

test("where blooms are full of others, all are, as looking would leave few out", async () => {
  const { all, listHeld } = await open();
  const others = Array.from({ length: 250 }, (_, index) =>
    keccak256(`0x${(index + 4096).toString(16)}`),
  );
  // One such block is looked into; of a hundred in a row nearly each owner is taken for held.
  expect((await listHeld([bloomOf(others)])).length).toBeLessThan(all.length / 4);
  expect(await listHeld(Array.from({ length: 100 }, () => bloomOf(others)))).toBe(all);
});

test("an owner who is heard of later is asked for from then on", async () => {
  const list = addresses.slice(0, 3);
  const owners = async () => list;
  const payees = openPayees({ read: owners }, (address) => address as Hex);
  const late = topicOf(addresses[1_999]);
  expect((await payees.read()).isPayee(late)).toBe(false);
  list.push(addresses[1_999] ?? "0x");
  const { isPayee, listHeld } = await payees.read();
  expect(isPayee(late)).toBe(true);
  expect(await listHeld([bloomOf([late])])).toEqual([late]);
});

// An address of a family that the catalogue gave the chain before would stop the whole chain else.
test("an owner whose address is none of the chain's stands in nobody's way", async () => {
  const list = ["stranger", ...addresses.slice(0, 3)];
  const owners = async () => list;
  const addressOf = (address: string) => (address === "stranger" ? undefined : (address as Hex));
  const payees = openPayees({ read: owners }, addressOf);
  expect((await payees.read()).all).toEqual(addresses.slice(0, 3).map(topicOf));
  list.push(addresses[3] ?? "0x");
  expect((await payees.read()).all).toEqual(addresses.slice(0, 4).map(topicOf));
});
