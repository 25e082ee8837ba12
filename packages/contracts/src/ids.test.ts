import { describe, expect, test } from "@jest/globals";
import { TypeID } from "typeid-js";
import { Id, createDeterministicId, uuidToId, isId, newId, idToUuid } from "./ids.ts";

describe("newId", () => {
  test.each([
    "user",
    "plink",
    "tx",
    "whe",
    "evt",
    "key",
    "wallet",
    "sess",
    "idn",
    "pky",
    "aud",
  ] as const)("creates a %s id that isId recognizes by its prefix (rule API-24)", (prefix) => {
    const id = newId(prefix);
    expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    expect(isId(prefix, id)).toBe(true);
    expect(Id.safeParse(id).success).toBe(true);
  });

  test("never returns the same id twice, and a later millisecond sorts later", async () => {
    const ids = Array.from({ length: 10_000 }, () => newId("plink"));
    expect(new Set(ids).size).toBe(ids.length);
    const startedAt = Date.now();
    // oxlint-disable-next-line reliability/no-fixed-wait -- this test needs the next millisecond
    while (Date.now() === startedAt) await Promise.resolve();
    expect(newId("plink") > (ids[0] ?? "")).toBe(true);
  });
});

describe("idToUuid", () => {
  test("returns the UUID of an id and rejects a text that is not an id", () => {
    const uuid = "0193a4b8-2f00-7abc-8def-0123456789ab";
    expect(idToUuid(uuidToId("aud", uuid))).toBe(uuid);
    expect(() => idToUuid("aud_8zzzzzzzzzzzzzzzzzzzzzzzzz")).toThrow();
    expect(() => idToUuid("aud")).toThrow();
  });
});

describe("createDeterministicId", () => {
  test("always returns the same id for the same names (rule API-24)", () => {
    const id = createDeterministicId("tx", ["evm:8453", "0xab:plink_1:0", "plink_1"]);
    expect(id).toBe("tx_3es6cj0xmjh8v95z30ce30x174");
    expect(isId("tx", id)).toBe(true);
  });

  test("returns a different valid id for every other division, order or number of names", () => {
    const namePartsList = [
      ["ab", "c"],
      ["a", "bc"],
      ["c", "ab"],
      ["abc"],
      ["ab", "c", ""],
      ['ab","c'],
    ];
    const manyNameParts = Array.from({ length: 1_000 }, (_, index) => [String(index)]);
    const ids = [...namePartsList, ...manyNameParts].map((nameParts) =>
      createDeterministicId("tx", nameParts),
    );
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(isId("tx", id)).toBe(true);
      // RFC 9562: version 8, variant 10.
      expect(TypeID.fromString(id).toUUID()).toMatch(/^.{8}-.{4}-8.{3}-[89ab]/);
    }
  });
});

describe("uuidToId", () => {
  test("matches the published example of TypeID 0.3", () => {
    const id = uuidToId("aud", "0188bac7-4afa-78aa-bc3b-bd1eef28d881");
    expect(id).toBe("aud_01h2xcejqtf2nbrexx3vqjhp41");
    expect(isId("aud", id)).toBe(true);
  });
});

describe("isId", () => {
  const id = newId("plink");
  test.each([
    ["another prefix", id.replace("plink", "user")],
    ["an unknown prefix of the same length", id.replace("plink", "plonk")],
    ["no prefix", id.slice("plink_".length)],
    ["one character removed", id.slice(0, -1)],
    ["one character added", `${id}0`],
    ["upper case", id.toUpperCase()],
    ["a letter outside the alphabet", `${id.slice(0, -1)}u`],
    ["more than 128 bits", `plink_8${id.slice("plink_".length + 1)}`],
    ["a leading space", ` ${id.slice(0, -1)}`],
    ["a trailing newline", `${id.slice(0, -1)}\n`],
    ["nothing", ""],
  ])("rejects %s", (_name, text) => {
    expect(isId("plink", text)).toBe(false);
  });
});
