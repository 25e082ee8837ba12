import { describe, expect, test } from "@jest/globals";
import { openSecret, readSecretKeys, sealSecret } from "./secret-keys.ts";

const keyText = (name: string, byte: number): string =>
  `${name}=${Buffer.alloc(32, byte).toString("base64")}`;

const keysOf = (text: string) => {
  const keys = readSecretKeys(text);
  if (keys === undefined) throw new Error("the keys cannot be read");
  return keys;
};

const many = (count: number): string =>
  Array.from({ length: count }, (_, at) => keyText(`k${at}`, at)).join();

describe("readSecretKeys (rule OPS-6)", () => {
  test("takes names of 64, and sixteen keys", () => {
    expect(keysOf(keyText("n".repeat(64), 1)).sealing).toBe("n".repeat(64));
    expect(keysOf(many(16)).byName.size).toBe(16);
  });

  test("takes the first to seal and all to open", () => {
    const keys = keysOf(` ${keyText("b", 1)} , ${keyText("a", 2)},`);
    expect([keys.sealing, [...keys.byName.keys()]]).toEqual(["b", ["b", "a"]]);
  });

  test.each([
    ["nothing", ""],
    ["a comma", ","],
    ["a name alone", "a"],
    ["a key alone", Buffer.alloc(32).toString("base64")],
    ["no name", `=${Buffer.alloc(32).toString("base64")}`],
    ["a name of 65", keyText("n".repeat(65), 1)],
    ["seventeen keys", many(17)],
    ["text behind a key", `${keyText("a", 1)}x`],
    ["31 bytes", `a=${Buffer.alloc(31).toString("base64")}`],
    ["33 bytes", `a=${Buffer.alloc(33).toString("base64")}`],
    ["what is no base64", `a=${"!".repeat(43)}=`],
    ["a name twice", `${keyText("a", 1)},${keyText("a", 2)}`],
    ["a good one and a bad one", `${keyText("a", 1)},b=x`],
  ])("refuses %s", (_name, text) => {
    expect(readSecretKeys(text)).toBeUndefined();
  });
});

describe("sealSecret and openSecret", () => {
  const keys = keysOf(keyText("a", 1));

  test("seal differently each time, and open to the same", () => {
    const [one, two] = [sealSecret(keys, "whsec_x", "whe_1"), sealSecret(keys, "whsec_x", "whe_1")];
    expect(one.sealed.equals(two.sealed)).toBe(false);
    expect([one, two].map((sealed) => openSecret(keys, sealed, "whe_1"))).toEqual([
      "whsec_x",
      "whsec_x",
    ]);
  });

  test("open what an older key sealed, while the new one seals", () => {
    const old = sealSecret(keys, "whsec_x", "whe_1");
    const rotated = keysOf(`${keyText("b", 2)},${keyText("a", 1)}`);
    expect(openSecret(rotated, old, "whe_1")).toBe("whsec_x");
    expect(sealSecret(rotated, "whsec_x", "whe_1").keyName).toBe("b");
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
    expect(() => openSecret(keysOf(keyText("b", 1)), sealed, "whe_1")).toThrow(
      "no secret key is named a",
    );
    expect(() => openSecret(keysOf(keyText("a", 2)), sealed, "whe_1")).toThrow();
    for (let at = 0; at < sealed.sealed.length; at += 1) {
      const changed = Buffer.from(sealed.sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => openSecret(keys, { ...sealed, sealed: changed }, "whe_1")).toThrow();
    }
    expect(() => openSecret(keys, { ...sealed, sealed: Buffer.alloc(3) }, "whe_1")).toThrow();
  });
});
