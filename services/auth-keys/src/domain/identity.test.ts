import { describe, expect, test } from "@jest/globals";
import { toEthereumIdentity, toOidcIdentity } from "./identity.ts";

describe("the initial username of an account", () => {
  test.each([
    ["a name", "Ada Example", "Ada Example"],
    ["a name with spaces around it", "  Ada ", "Ada"],
    ["a name of 200 characters", "😀".repeat(200), "😀".repeat(100)],
    ["control characters", "A\0d\u0007a\n", "Ada"],
    ["only spaces", "   ", "New account"],
    ["half a surrogate pair", "\ud83d", "New account"],
    ["a number", 1, "New account"],
    ["no name", undefined, "New account"],
  ])("is derived from %s", (_name, claim, username) => {
    expect(toOidcIdentity("https://issuer.example", "s", claim).username).toBe(username);
  });

  test("shortens an address to its beginning and its end", () => {
    const { username } = toEthereumIdentity("0xA0Cf798816D4b9b9866b5330EEa46a18382f251e");
    expect(username).toBe("0xA0Cf…251e");
  });
});

test("a contract is an identity of its own chain, and a key has the same identity on every chain", () => {
  const address = "0xA0Cf798816D4b9b9866b5330EEa46a18382f251e";
  expect(toEthereumIdentity(address)).toMatchObject({ issuer: "eip155", subject: address });
  const onBase = toEthereumIdentity(address, "8453");
  expect(onBase).toMatchObject({ issuer: "eip155:8453", subject: address });
});
