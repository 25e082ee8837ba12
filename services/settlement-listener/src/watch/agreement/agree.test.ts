import { describe, expect, test } from "@jest/globals";
import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";
import { agree, quorumOf } from "./agree.ts";

/** What a provider says of each key; what it does not name it has no vote on. */
type Says = Record<string, string> | Error;

/** Asks providers for `keys`, two of whom must agree unless said otherwise; answers who was asked what. */
const ask = async (says: readonly Says[], { keys = ["a"], quorum = 2 } = {}) => {
  const asked: string[] = [];
  const witnesses = says.map((_, at) => ({
    id: `p${at}`,
    get reader(): never {
      throw new Error("whoever asks brings the answers");
    },
  }));
  const agreement = await agree<string, string>({
    witnesses,
    quorum,
    keys,
    ask: async ({ id }, open) => {
      asked.push(`${id}: ${open.join()}`);
      const told = says[Number(id.slice(1))] ?? {};
      if (told instanceof Error) throw told;
      return new Map(open.flatMap((key) => (told[key] === undefined ? [] : [[key, told[key]]])));
    },
    printOf: (value) => value.toLowerCase(),
  });
  return { ...agreement, agreed: Object.fromEntries(agreement.agreed), asked };
};

const [x, y, z] = [{ a: "x" }, { a: "y" }, { a: "z" }];

test("money moves by the word of two providers, where there are two", () => {
  expect([1, 2, 3].map((count) => quorumOf(Array(count)))).toEqual([1, 2, 2]);
});

describe("asking several providers for the same", () => {
  test("two that say alike are enough, and a third is not asked", async () => {
    expect(await ask([x, { a: "X" }, y])).toEqual({
      agreed: { a: "X" },
      voiceCountMin: 2,
      contradictedCount: 0,
      dissenters: [],
      asked: ["p0: a", "p1: a"],
    });
  });

  test("where two say otherwise the third decides, and who was outvoted is told", async () => {
    expect(await ask([x, y, y])).toEqual({
      agreed: { a: "y" },
      voiceCountMin: 2,
      contradictedCount: 1,
      dissenters: ["p0"],
      asked: ["p0: a", "p1: a", "p2: a"],
    });
  });

  test("a third that is outvoted by a fourth is told under its own id", async () => {
    expect((await ask([x, y, z, y])).dissenters).toEqual(["p0", "p2"]);
  });

  test("nobody is outvoted by fewer than must agree", async () => {
    expect(await ask([x, x, y], { quorum: 3 })).toMatchObject({
      agreed: {},
      voiceCountMin: 2,
      contradictedCount: 1,
      dissenters: [],
    });
  });

  test("where each says something else nothing is agreed, and nobody is called a dissenter", async () => {
    expect(await ask([x, y, z])).toMatchObject({
      agreed: {},
      voiceCountMin: 1,
      contradictedCount: 1,
      dissenters: [],
    });
  });

  test.each([new ChainUnreachableError("away"), new ChainMovedError("moved")])(
    "who is away or on the move has no vote: %s",
    async (error) => {
      expect(await ask([error, x])).toMatchObject({ agreed: {}, voiceCountMin: 1 });
      expect(await ask([error, x, x])).toMatchObject({ agreed: { a: "x" }, contradictedCount: 0 });
    },
  );

  test("a fault of ours is no abstention", async () => {
    await expect(ask([new TypeError("ours"), x, x])).rejects.toThrow("ours");
  });

  test("a lone provider's failure is told, as there is nobody else to ask", async () => {
    await expect(ask([new ChainUnreachableError("away")], { quorum: 1 })).rejects.toThrow("away");
    expect(await ask([x], { quorum: 1 })).toMatchObject({ agreed: { a: "x" }, voiceCountMin: 1 });
  });

  test("a third is asked only for what the two did not agree on", async () => {
    const both = { a: "x", b: "y" };
    const answer = await ask([both, { a: "x" }, { a: "z", b: "y" }], { keys: ["c", "a", "b"] });
    expect(answer).toEqual({
      agreed: { a: "x", b: "y" },
      voiceCountMin: 0,
      contradictedCount: 0,
      dissenters: [],
      asked: ["p0: c,a,b", "p1: c,a,b", "p2: c,b"],
    });
  });
});
