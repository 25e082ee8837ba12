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
  ] as const)(
    "makes a %s id that carries its kind and is known again by it (rule API-24)",
    (prefix) => {
      const id = newId(prefix);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
      expect(isId(prefix, id)).toBe(true);
      expect(Id.safeParse(id).success).toBe(true);
    },
  );

  test("never makes one twice, and a later millisecond sorts later", async () => {
    const ids = Array.from({ length: 10_000 }, () => newId("plink"));
    expect(new Set(ids).size).toBe(ids.length);
    const startedAt = Date.now();
    // oxlint-disable-next-line reliability/no-fixed-wait -- the next millisecond is what is tested
    while (Date.now() === startedAt) await Promise.resolve();
    expect(newId("plink") > (ids[0] ?? "")).toBe(true);
  });
});

describe("idToUuid", () => {
  test("is the UUID of which the id was made, and refuses what is no id", () => {
    const uuid = "0193a4b8-2f00-7abc-8def-0123456789ab";
    expect(idToUuid(uuidToId("aud", uuid))).toBe(uuid);
    expect(() => idToUuid("aud_8zzzzzzzzzzzzzzzzzzzzzzzzz")).toThrow();
    expect(() => idToUuid("aud")).toThrow();
  });
});

describe("createDeterministicId", () => {
  test("is the same for the same names, for ever (rule API-24)", () => {
    const id = createDeterministicId("tx", ["evm:8453", "0xab:plink_1:0", "plink_1"]);
    expect(id).toBe("tx_3es6cj0xmjh8v95z30ce30x174");
    expect(isId("tx", id)).toBe(true);
  });

  test("is another for every other division, order or number of names, and valid for each", () => {
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
  test("keeps to the published example of TypeID 0.3", () => {
    const id = uuidToId("aud", "0188bac7-4afa-78aa-bc3b-bd1eef28d881");
    expect(id).toBe("aud_01h2xcejqtf2nbrexx3vqjhp41");
    expect(isId("aud", id)).toBe(true);
  });
});

describe("isId", () => {
  const id = newId("plink");
  test.each([
    ["another kind", id.replace("plink", "user")],
    ["a kind that there is not, as long as ours", id.replace("plink", "plonk")],
    ["no prefix", id.slice("plink_".length)],
    ["one character less", id.slice(0, -1)],
    ["one character more", `${id}0`],
    ["upper case", id.toUpperCase()],
    ["a letter that the alphabet leaves out", `${id.slice(0, -1)}u`],
    ["more than 128 bits", `plink_8${id.slice("plink_".length + 1)}`],
    ["a blank", ` ${id.slice(0, -1)}`],
    ["a newline at the end", `${id.slice(0, -1)}\n`],
    ["nothing", ""],
  ])("refuses %s", (_name, text) => {
    expect(isId("plink", text)).toBe(false);
  });
});
