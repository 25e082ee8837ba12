import { describe, expect, test } from "@jest/globals";
import { StatementTimeoutError } from "slonik";
import { listCauses } from "./list-causes.ts";

const createCodedError = (code: unknown, options?: ErrorOptions) =>
  Object.assign(new Error("failed", options), { code });

const listCodes = (error: unknown) => listCauses(error).map(({ code }) => code);

describe("what caused an error", () => {
  test("is told from the outermost to the innermost, each with its SQL state or code", () => {
    const connectionRefused = createCodedError("ECONNREFUSED");
    const outerError = new Error("outer", {
      cause: createCodedError("57P03", { cause: connectionRefused }),
    });
    expect(listCodes(outerError)).toEqual(["", "57P03", "ECONNREFUSED"]);
    expect(listCauses(outerError).at(-1)?.error).toBe(connectionRefused);
  });

  test("is told behind an error of slonik", () => {
    expect(listCodes(new StatementTimeoutError(createCodedError("57014")))).toContain("57014");
  });

  test("is told as far as five errors, so that a circle ends", () => {
    const circularError = createCodedError("40001");
    circularError.cause = circularError;
    expect(listCodes(circularError)).toEqual(Array(5).fill("40001"));
  });

  test("is nothing where no error was thrown, and no code where it is no text", () => {
    expect(listCodes("57014")).toEqual([]);
    expect(listCodes(createCodedError(3))).toEqual([""]);
  });
});
