import { describe, expect, test } from "@jest/globals";
import { getRelyingPartyId } from "./passkey.ts";

describe("getRelyingPartyId", () => {
  test.each([
    ["https://pay.example", "pay.example"],
    ["https://pay.example:8443", "pay.example"],
    ["https://10.example", "10.example"],
    ["https://localhost", "localhost"],
    ["http://localhost:8080", "localhost"],
  ])("returns for %s the id %s", (origin, rpId) => {
    expect(getRelyingPartyId(origin)).toBe(rpId);
  });

  test.each([
    ["is not secure", "http://pay.example"],
    ["only resembles loopback", "http://localhost.evil.example"],
    ["is an IPv4 address", "https://192.0.2.1"],
    ["is an IPv4 address on loopback", "http://127.0.0.1:8080"],
    ["is an IPv4 address in another form", "https://3221225985"],
    ["is an IPv6 address", "https://[2001:db8::1]"],
  ])("returns undefined when the origin %s", (_why, origin) => {
    expect(getRelyingPartyId(origin)).toBeUndefined();
  });
});
