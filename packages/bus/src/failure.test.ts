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

describe("what kind of failure an error is", () => {
  test.each([
    ["a database that refuses connections", createCodedError("ECONNREFUSED")],
    ["a backend that was shut down", new BackendTerminatedError(createCodedError("57P01"))],
    ["a statement that took too long", new StatementTimeoutError(createCodedError("57014"))],
    ["a deadlock", createCodedError("40P01")],
    ["too many connections", createCodedError("53300")],
    ["a primary that became a replica", createCodedError("25006")],
    ["a connection that died between two statements", new Error("Client is destroyed.")],
    [
      "an error caused by such a one",
      new Error("outer", { cause: createCodedError("ECONNRESET") }),
    ],
  ])("%s is transient", (_, error) => {
    expect(classifyFailure(error)).toBe("transient");
  });

  test.each([
    ["a refusal", createApiError("NOT_FOUND")],
    ["a broken invariant", catchError(() => assert.ok(false))],
    ["a breach of a schema", catchError(() => z.string().parse(1))],
    ["a row that must be there and is not", new NotFoundError("none", { sql: "", values: [] })],
    ["a value that its column cannot hold", createCodedError("22003")],
  ])("%s is permanent", (_, error) => {
    expect(classifyFailure(error)).toBe("permanent");
  });

  test.each([
    ["a defect", new TypeError("x is undefined")],
    ["a constraint, which may be a race", createCodedError("23505")],
    ["what is no error", "text"],
  ])("%s is unknown", (_, error) => {
    expect(classifyFailure(error)).toBe("unknown");
  });
});
