import { describe, expect, test } from "@jest/globals";
import { StatementTimeoutError } from "slonik";
import { causesOf } from "./causes-of.ts";

const coded = (code: unknown, options?: ErrorOptions) =>
  Object.assign(new Error("failed", options), { code });

const codesOf = (error: unknown) => causesOf(error).map(({ code }) => code);

describe("what caused an error", () => {
  test("is told from the outermost to the innermost, each with its SQL state or code", () => {
    const refused = coded("ECONNREFUSED");
    const outer = new Error("outer", { cause: coded("57P03", { cause: refused }) });
    expect(codesOf(outer)).toEqual(["", "57P03", "ECONNREFUSED"]);
    expect(causesOf(outer).at(-1)?.error).toBe(refused);
  });

  test("is told behind an error of slonik", () => {
    expect(codesOf(new StatementTimeoutError(coded("57014")))).toContain("57014");
  });

  test("is told as far as five errors, so that a circle ends", () => {
    const circle = coded("40001");
    circle.cause = circle;
    expect(codesOf(circle)).toEqual(Array(5).fill("40001"));
  });

  test("is nothing where no error was thrown, and no code where it is no text", () => {
    expect(codesOf("57014")).toEqual([]);
    expect(codesOf(coded(3))).toEqual([""]);
  });
});
