import assert from "node:assert";
import { describe, expect, test } from "@jest/globals";
import { BackendTerminatedError, NotFoundError, StatementTimeoutError } from "slonik";
import * as z from "zod";
import { createApiError } from "@payment-links/contracts";
import { classifyFailure } from "./failure.ts";

const createCodedError = (code: string, message = "failed") =>
  Object.assign(new Error(message), { code });

const catchError = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

describe("classifyFailure", () => {
  test.each([
    ["a database that refuses connections", createCodedError("ECONNREFUSED")],
    ["a backend that was shut down", new BackendTerminatedError(createCodedError("57P01"))],
    ["a statement that took too long", new StatementTimeoutError(createCodedError("57014"))],
    ["a deadlock", createCodedError("40P01")],
    ["too many connections", createCodedError("53300")],
    ["a primary that became a replica", createCodedError("25006")],
    ["a connection that died between two statements", new Error("Client is destroyed.")],
    [
      "an error caused by a transient one",
      new Error("outer", { cause: createCodedError("ECONNRESET") }),
    ],
  ])("classifies %s as transient", (_, error) => {
    expect(classifyFailure(error)).toBe("transient");
  });

  test.each([
    ["an API error", createApiError("NOT_FOUND")],
    ["a broken invariant", catchError(() => assert.ok(false))],
    ["a schema violation", catchError(() => z.string().parse(1))],
    ["a required row that is missing", new NotFoundError("none", { sql: "", values: [] })],
    ["a value that its column cannot hold", createCodedError("22003")],
  ])("classifies %s as permanent", (_, error) => {
    expect(classifyFailure(error)).toBe("permanent");
  });

  test.each([
    ["a programming error", new TypeError("x is undefined")],
    ["a constraint violation, which may be a race", createCodedError("23505")],
    ["a thrown value that is not an Error", "text"],
  ])("classifies %s as unknown", (_, error) => {
    expect(classifyFailure(error)).toBe("unknown");
  });
});
