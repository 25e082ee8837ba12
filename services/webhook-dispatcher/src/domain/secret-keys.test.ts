import { describe, expect, test } from "@jest/globals";
import { openSecret, parseSecretKeys, sealSecret } from "./secret-keys.ts";

const keyText = (name: string, byte: number): string =>
  `${name}=${Buffer.alloc(32, byte).toString("base64")}`;

const parseKeys = (text: string) => {
  const keys = parseSecretKeys(text);
  if (keys === undefined) throw new Error("the keys cannot be read");
  return keys;
};

const createManyKeys = (count: number): string =>
  Array.from({ length: count }, (_, index) => keyText(`k${index}`, index)).join();

describe("readSecretKeys (rule OPS-6)", () => {
  test("takes names of 64, and sixteen keys", () => {
    expect(parseKeys(keyText("n".repeat(64), 1)).sealingKeyName).toBe("n".repeat(64));
    expect(parseKeys(createManyKeys(16)).byName.size).toBe(16);
  });

  test("takes the first to seal and all to open", () => {
    const keys = parseKeys(` ${keyText("b", 1)} , ${keyText("a", 2)},`);
    expect([keys.sealingKeyName, [...keys.byName.keys()]]).toEqual(["b", ["b", "a"]]);
  });

  test.each([
    ["nothing", ""],
    ["a comma", ","],
    ["a name alone", "a"],
    ["a key alone", Buffer.alloc(32).toString("base64")],
    ["no name", `=${Buffer.alloc(32).toString("base64")}`],
    ["a name of 65", keyText("n".repeat(65), 1)],
    ["seventeen keys", createManyKeys(17)],
    ["text behind a key", `${keyText("a", 1)}x`],
    ["31 bytes", `a=${Buffer.alloc(31).toString("base64")}`],
    ["33 bytes", `a=${Buffer.alloc(33).toString("base64")}`],
    ["what is no base64", `a=${"!".repeat(43)}=`],
    ["a name twice", `${keyText("a", 1)},${keyText("a", 2)}`],
    ["a good one and a bad one", `${keyText("a", 1)},b=x`],
  ])("refuses %s", (_name, text) => {
    expect(parseSecretKeys(text)).toBeUndefined();
  });
});

describe("sealSecret and openSecret", () => {
  const keys = parseKeys(keyText("a", 1));

  test("seal differently each time, and open to the same", () => {
    const [first, second] = [
      sealSecret(keys, "whsec_x", "whe_1"),
      sealSecret(keys, "whsec_x", "whe_1"),
    ];
    expect(first.sealed.equals(second.sealed)).toBe(false);
    expect([first, second].map((sealed) => openSecret(keys, sealed, "whe_1"))).toEqual([
      "whsec_x",
      "whsec_x",
    ]);
  });

  test("open what an older key sealed, while the new one seals", () => {
    const oldSecret = sealSecret(keys, "whsec_x", "whe_1");
    const rotatedKeys = parseKeys(`${keyText("b", 2)},${keyText("a", 1)}`);
    expect(openSecret(rotatedKeys, oldSecret, "whe_1")).toBe("whsec_x");
    expect(sealSecret(rotatedKeys, "whsec_x", "whe_1").keyName).toBe("b");
  });

  // Made by another library: 12 bytes of nonce, the text, 16 bytes of tag.
  test("open what was sealed by this form before", () => {
    const stored = "000102030405060708090a0bcccee64343a17ed6ed4761ad0246f8bc2cb5db490dc686";
    const sealed = { sealed: Buffer.from(stored, "hex"), keyName: "a" };
    expect(openSecret(keys, sealed, "whe_1")).toBe("whsec_x");
  });

  test("refuse another endpoint's secret, an unknown or wrong key, and any change of a bit (rule KEEP-7)", () => {
    const sealed = sealSecret(keys, "whsec_x", "whe_1");
    expect(() => openSecret(keys, sealed, "whe_2")).toThrow();
    expect(() => openSecret(parseKeys(keyText("b", 1)), sealed, "whe_1")).toThrow(
      "no secret key is named a",
    );
    expect(() => openSecret(parseKeys(keyText("a", 2)), sealed, "whe_1")).toThrow();
    for (let index = 0; index < sealed.sealed.length; index += 1) {
      const corrupted = Buffer.from(sealed.sealed);
      corrupted.writeUInt8(corrupted.readUInt8(index) ^ 1, index);
      expect(() => openSecret(keys, { ...sealed, sealed: corrupted }, "whe_1")).toThrow();
    }
    expect(() => openSecret(keys, { ...sealed, sealed: Buffer.alloc(3) }, "whe_1")).toThrow();
  });
});
