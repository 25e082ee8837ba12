import { describe, expect, test } from "@jest/globals";
import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "../chain-reader.ts";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";

/** What a provider says of each key; what it does not name it has no vote on. */
type ProviderValues = Record<string, string> | Error;

/** Asks providers for `keys`, two of whom must agree unless said otherwise; answers who was asked what. */
const askProviders = async (
  providerValues: readonly ProviderValues[],
  { keys = ["a"], quorum = 2 } = {},
) => {
  const asked: string[] = [];
  const verifiers = providerValues.map((_, index) => ({
    id: `p${index}`,
    get reader(): never {
      throw new Error("whoever asks brings the answers");
    },
  }));
  const agreement = await reachQuorum<string, string>({
    verifiers,
    quorum,
    keys,
    fetchValues: async ({ id }, openKeys) => {
      asked.push(`${id}: ${openKeys.join()}`);
      const values = providerValues[Number(id.slice(1))] ?? {};
      if (values instanceof Error) throw values;
      return new Map(
        openKeys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
      );
    },
    toFingerprint: (value) => value.toLowerCase(),
  });
  return { ...agreement, agreedValues: Object.fromEntries(agreement.agreedValues), asked };
};

const [x, y, z] = [{ a: "x" }, { a: "y" }, { a: "z" }];

test("money moves by the word of two providers, where there are two", () => {
  expect([1, 2, 3].map((count) => getQuorum(Array(count)))).toEqual([1, 2, 2]);
});

describe("asking several providers for the same", () => {
  test("two that say alike are enough, and a third is not asked", async () => {
    expect(await askProviders([x, { a: "X" }, y])).toEqual({
      agreedValues: { a: "X" },
      agreeingProviderCountMin: 2,
      contradictedCount: 0,
      dissentingProviders: [],
      asked: ["p0: a", "p1: a"],
    });
  });

  test("where two say otherwise the third decides, and who was outvoted is told", async () => {
    expect(await askProviders([x, y, y])).toEqual({
      agreedValues: { a: "y" },
      agreeingProviderCountMin: 2,
      contradictedCount: 1,
      dissentingProviders: ["p0"],
      asked: ["p0: a", "p1: a", "p2: a"],
    });
  });

  test("a third that is outvoted by a fourth is told under its own id", async () => {
    expect((await askProviders([x, y, z, y])).dissentingProviders).toEqual(["p0", "p2"]);
  });

  test("nobody is outvoted by fewer than must agree", async () => {
    expect(await askProviders([x, x, y], { quorum: 3 })).toMatchObject({
      agreedValues: {},
      agreeingProviderCountMin: 2,
      contradictedCount: 1,
      dissentingProviders: [],
    });
  });

  test("where each says something else nothing is agreed, and nobody is called a dissenter", async () => {
    expect(await askProviders([x, y, z])).toMatchObject({
      agreedValues: {},
      agreeingProviderCountMin: 1,
      contradictedCount: 1,
      dissentingProviders: [],
    });
  });

  test.each([new ChainUnreachableError("away"), new ChainMovedError("moved")])(
    "who is away or on the move has no vote: %s",
    async (error) => {
      expect(await askProviders([error, x])).toMatchObject({
        agreedValues: {},
        agreeingProviderCountMin: 1,
      });
      expect(await askProviders([error, x, x])).toMatchObject({
        agreedValues: { a: "x" },
        contradictedCount: 0,
      });
    },
  );

  test("a fault of ours is no abstention", async () => {
    await expect(askProviders([new TypeError("ours"), x, x])).rejects.toThrow("ours");
  });

  test("a lone provider's failure is told, as there is nobody else to ask", async () => {
    await expect(askProviders([new ChainUnreachableError("away")], { quorum: 1 })).rejects.toThrow(
      "away",
    );
    expect(await askProviders([x], { quorum: 1 })).toMatchObject({
      agreedValues: { a: "x" },
      agreeingProviderCountMin: 1,
    });
  });

  test("a third is asked only for what the two did not agree on", async () => {
    const bothValues = { a: "x", b: "y" };
    const agreement = await askProviders([bothValues, { a: "x" }, { a: "z", b: "y" }], {
      keys: ["c", "a", "b"],
    });
    expect(agreement).toEqual({
      agreedValues: { a: "x", b: "y" },
      agreeingProviderCountMin: 0,
      contradictedCount: 0,
      dissentingProviders: [],
      asked: ["p0: c,a,b", "p1: c,a,b", "p2: c,b"],
    });
  });
});
