import { describe, expect, test } from "@jest/globals";
import { StatementTimeoutError } from "slonik";
import { listCauses } from "./list-causes.ts";

const createCodedError = (code: unknown, options?: ErrorOptions) =>
  Object.assign(new Error("failed", options), { code });

const listCodes = (error: unknown) => listCauses(error).map(({ code }) => code);

describe("listCauses", () => {
  test("lists errors from the outermost to the innermost, each with its SQLSTATE or code", () => {
    const connectionRefused = createCodedError("ECONNREFUSED");
    const outerError = new Error("outer", {
      cause: createCodedError("57P03", { cause: connectionRefused }),
    });
    expect(listCodes(outerError)).toEqual(["", "57P03", "ECONNREFUSED"]);
    expect(listCauses(outerError).at(-1)?.error).toBe(connectionRefused);
  });

  test("finds the cause inside a slonik error", () => {
    expect(listCodes(new StatementTimeoutError(createCodedError("57014")))).toContain("57014");
  });

  test("stops after 5 errors, so that a cycle ends", () => {
    const circularError = createCodedError("40001");
    circularError.cause = circularError;
    expect(listCodes(circularError)).toEqual(Array(5).fill("40001"));
  });

  test("returns nothing for a value that is not an error, and an empty code for a code that is not a string", () => {
    expect(listCodes("57014")).toEqual([]);
    expect(listCodes(createCodedError(3))).toEqual([""]);
  });
});
