import { describe, expect, test } from "@jest/globals";
import { toEthereumIdentity, toOidcIdentity } from "./identity.ts";

describe("what an account is called at first", () => {
  test.each([
    ["a name", "Ada Example", "Ada Example"],
    ["a name with blanks around it", "  Ada ", "Ada"],
    ["a name of 200 characters", "😀".repeat(200), "😀".repeat(100)],
    ["control characters", "A\0d\u0007a\n", "Ada"],
    ["nothing but blanks", "   ", "New account"],
    ["half a character", "\ud83d", "New account"],
    ["a number", 1, "New account"],
    ["no name", undefined, "New account"],
  ])("given %s", (_name, claim, username) => {
    expect(toOidcIdentity("https://issuer.example", "s", claim).username).toBe(username);
  });

  test("of an address is its beginning and its end", () => {
    const { username } = toEthereumIdentity("0xA0Cf798816D4b9b9866b5330EEa46a18382f251e");
    expect(username).toBe("0xA0Cf…251e");
  });
});

test("a contract is an identity of its chain alone, and a key the same one on every chain", () => {
  const address = "0xA0Cf798816D4b9b9866b5330EEa46a18382f251e";
  expect(toEthereumIdentity(address)).toMatchObject({ issuer: "eip155", subject: address });
  const onBase = toEthereumIdentity(address, "8453");
  expect(onBase).toMatchObject({ issuer: "eip155:8453", subject: address });
});
