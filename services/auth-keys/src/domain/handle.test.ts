import { describe, expect, test } from "@jest/globals";
import { hostileHandles } from "../testing/hostile-handles.ts";
import { parseHandle } from "./handle.ts";

describe("parseHandle (rule CALLER-13)", () => {
  test.each([
    ["abc", "abc"],
    ["ABC", "abc"],
    ["a_1", "a_1"],
    ["___", "___"],
    ["007", "007"],
    ["a".repeat(30), "a".repeat(30)],
    ["demo", "demo"],
  ])("parses %j as %j", (input, handle) => {
    expect(parseHandle(input)).toBe(handle);
  });

  test.each(hostileHandles)("rejects %s", (_why, input) => {
    expect(() => parseHandle(input)).toThrow("INVALID_HANDLE");
  });
});
