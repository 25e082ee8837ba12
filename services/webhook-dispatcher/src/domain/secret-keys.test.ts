import { describe, expect, test } from "@jest/globals";
import { openSecret, parseSecretKeys, sealSecret } from "./secret-keys.ts";

const keyText = (name: string, byte: number): string =>
  `${name}=${Buffer.alloc(32, byte).toString("base64")}`;

const parseKeys = (text: string) => {
  const keys = parseSecretKeys(text);
  if (keys === undefined) throw new Error("the keys are invalid");
  return keys;
};

const createManyKeys = (count: number): string =>
  Array.from({ length: count }, (_, index) => keyText(`k${index}`, index)).join();

describe("parseSecretKeys (rule OPS-6)", () => {
  test("accepts a name of 64 characters, and sixteen keys", () => {
    expect(parseKeys(keyText("n".repeat(64), 1)).sealingKeyName).toBe("n".repeat(64));
    expect(parseKeys(createManyKeys(16)).byName.size).toBe(16);
  });

  test("uses the first key to seal and all keys to open", () => {
    const keys = parseKeys(` ${keyText("b", 1)} , ${keyText("a", 2)},`);
    expect([keys.sealingKeyName, [...keys.byName.keys()]]).toEqual(["b", ["b", "a"]]);
  });

  test.each([
    ["an empty text", ""],
    ["a comma", ","],
    ["a name without a key", "a"],
    ["a key without a name", Buffer.alloc(32).toString("base64")],
    ["an empty name", `=${Buffer.alloc(32).toString("base64")}`],
    ["a name of 65 characters", keyText("n".repeat(65), 1)],
    ["seventeen keys", createManyKeys(17)],
    ["text after a key", `${keyText("a", 1)}x`],
    ["31 bytes", `a=${Buffer.alloc(31).toString("base64")}`],
    ["33 bytes", `a=${Buffer.alloc(33).toString("base64")}`],
    ["invalid base64", `a=${"!".repeat(43)}=`],
    ["a duplicate name", `${keyText("a", 1)},${keyText("a", 2)}`],
    ["a valid entry and an invalid one", `${keyText("a", 1)},b=x`],
  ])("rejects %s", (_name, text) => {
    expect(parseSecretKeys(text)).toBeUndefined();
  });
});

describe("sealSecret and openSecret", () => {
  const keys = parseKeys(keyText("a", 1));

  test("seal differently each time, and open to the same secret", () => {
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

  test("open a secret sealed with an older key, while the new key seals", () => {
    const oldSecret = sealSecret(keys, "whsec_x", "whe_1");
    const rotatedKeys = parseKeys(`${keyText("b", 2)},${keyText("a", 1)}`);
    expect(openSecret(rotatedKeys, oldSecret, "whe_1")).toBe("whsec_x");
    expect(sealSecret(rotatedKeys, "whsec_x", "whe_1").keyName).toBe("b");
  });

  // Created with another library: a 12-byte nonce, the ciphertext and a 16-byte tag.
  test("open a secret that was stored in this format", () => {
    const stored = "000102030405060708090a0bcccee64343a17ed6ed4761ad0246f8bc2cb5db490dc686";
    const sealed = { sealed: Buffer.from(stored, "hex"), keyName: "a" };
    expect(openSecret(keys, sealed, "whe_1")).toBe("whsec_x");
  });

  test("reject another endpoint's secret, an unknown or wrong key, and any flipped bit (rule KEEP-7)", () => {
    const sealed = sealSecret(keys, "whsec_x", "whe_1");
    expect(() => openSecret(keys, sealed, "whe_2")).toThrow();
    expect(() => openSecret(parseKeys(keyText("b", 1)), sealed, "whe_1")).toThrow(
      "unknown secret key: a",
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
