import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { listIgnoredFields } from "./ignored-fields.ts";

describe("listIgnoredFields", () => {
  test("returns the names of unknown fields in their order, without values (rule API-43)", () => {
    const body = { toAmount: "1", max_usage: 2, description: "a", success_url: "https://a" };
    expect(listIgnoredFields(body)).toEqual(["max_usage", "success_url"]);
    expect(listIgnoredFields({ toAmount: "1", maxUsage: 1, expirationDate: null })).toEqual([]);
  });

  test("returns at most ten names, and none that is a secret or not a token (rule API-43)", () => {
    const names = Array.from({ length: 11 }, (_, index) => `field_${index}`);
    expect(listIgnoredFields(Object.fromEntries(names.map((name) => [name, 1])))).toEqual(
      names.slice(0, 10),
    );
    const apiKey = `plk_live_${"a".repeat(36)}`;
    const hostile = ["a\r\nSet-Cookie: b=c", "a,b", "a b", "ä", "", apiKey, "x".repeat(41)];
    expect(listIgnoredFields(Object.fromEntries(hostile.map((name) => [name, 1])))).toEqual([]);
    expect(listIgnoredFields(JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual([
      "__proto__",
      "constructor",
    ]);
  });

  test("returns names that can stand in a header for any body", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.constant(1)), (body) => {
        for (const name of listIgnoredFields(body)) expect(name).toMatch(/^[\w.-]{1,40}$/);
      }),
    );
  });
});
