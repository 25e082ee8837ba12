import { expect, test } from "@jest/globals";
import { proveAbsent } from "./prove-absent.ts";

/** A node that remembers what is as new as a block, and what it was asked for. */
const openNode = (remembersFrom: number) => {
  const asked: number[] = [];
  let underWay = 0;
  const readAbsent = async (names: readonly string[], sinceBlock: number) => {
    asked.push(sinceBlock);
    underWay += 1;
    expect(underWay).toBe(1);
    await Promise.resolve();
    underWay -= 1;
    return new Set(sinceBlock >= remembersFrom ? names : []);
  };
  return { asked, readAbsent };
};

const seenIn = new Map(Array.from({ length: 500 }, (_, block) => [`transaction ${block}`, block]));

test.each([0, 1, 321, 499, 500])(
  "a node that remembers what is as new as block %i proves just that, with few questions, one by one",
  async (remembersFrom) => {
    const { asked, readAbsent } = openNode(remembersFrom);
    const absent = await proveAbsent(seenIn, readAbsent);
    const expected = [...seenIn].filter(([, block]) => block >= remembersFrom);
    expect([...absent].toSorted()).toEqual(expected.map(([name]) => name).toSorted());
    expect(asked.length).toBeLessThan(12);
  },
);

test("a node that remembers all is asked once, by the oldest", async () => {
  const { asked, readAbsent } = openNode(0);
  await proveAbsent(seenIn, readAbsent);
  expect(asked).toEqual([0]);
});
