import { describe, expect, test } from "@jest/globals";
import { ChainMovedError } from "../chain/watch-context.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";
import { reachQuorum, getQuorum } from "./reach-quorum.ts";

/** What a provider returns for each key. It has no vote on missing keys. */
type ProviderValues = Record<string, string> | Error;

/**
 * Asks providers for `keys`, by default with a quorum of two. Also returns the requests that each
 * provider got.
 */
const askProviders = async (
  providerValues: readonly ProviderValues[],
  { keys = ["a"], quorum = 2 } = {},
) => {
  const asked: string[] = [];
  const verifiers = providerValues.map((_, index) => ({
    id: `p${index}`,
    get reader(): never {
      throw new Error("reachQuorum must not use the reader");
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

test("the quorum is two providers, or one if there is only one", () => {
  expect([1, 2, 3].map((count) => getQuorum(Array(count)))).toEqual([1, 2, 2]);
});

describe("reachQuorum", () => {
  test("stops after two providers that agree", async () => {
    expect(await askProviders([x, { a: "X" }, y])).toEqual({
      agreedValues: { a: "X" },
      agreeingProviderCountMin: 2,
      contradictedCount: 0,
      dissentingProviders: [],
      asked: ["p0: a", "p1: a"],
    });
  });

  test("lets a third provider decide between two that differ, and names the dissenting one", async () => {
    expect(await askProviders([x, y, y])).toEqual({
      agreedValues: { a: "y" },
      agreeingProviderCountMin: 2,
      contradictedCount: 1,
      dissentingProviders: ["p0"],
      asked: ["p0: a", "p1: a", "p2: a"],
    });
  });

  test("names a third provider that a fourth one outvotes by its own id", async () => {
    expect((await askProviders([x, y, z, y])).dissentingProviders).toEqual(["p0", "p2"]);
  });

  test("names no dissenting provider below the quorum", async () => {
    expect(await askProviders([x, x, y], { quorum: 3 })).toMatchObject({
      agreedValues: {},
      agreeingProviderCountMin: 2,
      contradictedCount: 1,
      dissentingProviders: [],
    });
  });

  test("agrees on nothing and names no dissenting provider if all differ", async () => {
    expect(await askProviders([x, y, z])).toMatchObject({
      agreedValues: {},
      agreeingProviderCountMin: 1,
      contradictedCount: 1,
      dissentingProviders: [],
    });
  });

  test.each([new ChainUnreachableError("away"), new ChainMovedError("moved")])(
    "gives an unreachable or moving provider no vote: %s",
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

  test("rethrows an internal error", async () => {
    await expect(askProviders([new TypeError("ours"), x, x])).rejects.toThrow("ours");
  });

  test("rethrows the failure of a single provider", async () => {
    await expect(askProviders([new ChainUnreachableError("away")], { quorum: 1 })).rejects.toThrow(
      "away",
    );
    expect(await askProviders([x], { quorum: 1 })).toMatchObject({
      agreedValues: { a: "x" },
      agreeingProviderCountMin: 1,
    });
  });

  test("asks a third provider only for keys without agreement", async () => {
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
